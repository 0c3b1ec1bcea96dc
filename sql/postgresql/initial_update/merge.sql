-- A row that is there already is the same one, or the stream brings what became of it (R5).
INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE
SELECT {columns} FROM pg_temp.sluice_merged
ON CONFLICT ({key}) DO NOTHING
