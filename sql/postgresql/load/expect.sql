INSERT INTO {loaded} (source, slave, update_id, chunk, part, rows)
SELECT %(source)s, %(slave)s, %(update)s, number - 1, part, rows
FROM unnest(%(parts)s::text[], %(rows)s::bigint[]) WITH ORDINALITY AS expected (part, rows, number)
