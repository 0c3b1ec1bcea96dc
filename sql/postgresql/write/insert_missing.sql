INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE
SELECT {values} FROM {stage} AS stage
WHERE stage.sluice_op = 'U' AND NOT EXISTS (SELECT FROM {rows} AS target WHERE {same_key})
