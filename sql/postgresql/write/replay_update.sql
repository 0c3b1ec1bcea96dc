-- One row; its whole image is put back if it is missing, and not if a trigger of the slave kept it as it was.
WITH changed AS (
    UPDATE {rows} AS target SET ({set}) = ROW({set_values}) WHERE {same} RETURNING 1
)
INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE
SELECT {values} WHERE NOT EXISTS (SELECT FROM changed) AND NOT EXISTS (SELECT FROM {rows} AS target WHERE {same})
