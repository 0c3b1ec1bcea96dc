CREATE TEMP TABLE sluice_merged ON COMMIT {kept} AS SELECT {columns} FROM {table} WITH NO DATA
