CREATE TEMP TABLE {stage} ON COMMIT DELETE ROWS AS SELECT ''::"char" AS sluice_op, {columns} FROM {table} WITH NO DATA
