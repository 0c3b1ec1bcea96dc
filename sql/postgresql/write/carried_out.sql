-- Changes of earlier that this transaction carries out, each once (R3); those that were not before. No chunk of an initial
-- update is below 0.
INSERT INTO {loaded} (source, slave, update_id, chunk, rows)
SELECT %(source)s, %(slave)s, number, -1, 1 FROM unnest(%(numbers)s::bigint[]) AS number
ON CONFLICT DO NOTHING
RETURNING update_id
