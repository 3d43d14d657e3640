"""What Alembic runs: `bot.storage.migrate` hands it a connection that is already inside a locked transaction."""

from alembic import context

from bot.storage.schema import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    # SQLite alters a table by copying it; Alembic does that where a migration asks for a batch.
    render_as_batch=True,
    # SQLite's changes of a schema do roll back, as the transaction is begun by us and not by the driver.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
