"""Tables, columns, keys and types in PostgreSQL's catalog."""
