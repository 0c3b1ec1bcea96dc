-- Until the transaction ends nobody alters the table.
SELECT 1 FROM {table} LIMIT 0
