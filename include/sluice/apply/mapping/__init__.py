"""A slave's view of a table: its names, columns and rows."""
