CREATE TEMP TABLE {stage} ON COMMIT DELETE ROWS AS SELECT ''::"char" AS sluice_op, {staged} FROM {table} WITH NO DATA
