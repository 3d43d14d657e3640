"""The database: engine, schema, migrations and one store for each service. The only room that speaks SQL."""
