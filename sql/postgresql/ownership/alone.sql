-- In a mode that conflicts with itself, and with no reader or writer of the table.
LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE
