"""One file a change of the schema, numbered in order: `versions/0001_....py`. A released one never changes."""
