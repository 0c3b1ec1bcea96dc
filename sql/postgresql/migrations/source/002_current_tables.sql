-- A snapshot of names alone says nothing of use; the bootstrap that follows makes the table, and takes the snapshot.
DROP TABLE IF EXISTS {current_tables}
