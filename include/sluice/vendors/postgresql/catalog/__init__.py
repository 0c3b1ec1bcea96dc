"""What PostgreSQL's catalog says of tables, columns, keys and types."""
