CREATE TEMP TABLE {stage} ON COMMIT DELETE ROWS AS
SELECT 0::bigint AS sluice_a, 0::bigint AS sluice_b, {staged} FROM {table} WITH NO DATA
