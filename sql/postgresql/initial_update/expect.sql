INSERT INTO {loaded} (source, slave, update_id, chunk)
SELECT %(source)s, %(slave)s, %(update)s, chunk FROM generate_series(0, %(chunks)s - 1) AS chunk
