-- Without the slave's own rows, one that is there already is the same one, or the log brings what became of it (R5).
INSERT INTO {table} AS there ({columns}) OVERRIDING SYSTEM VALUE
SELECT {columns} FROM pg_temp.sluice_merged
ON CONFLICT ({key}) DO {then}
