INSERT INTO {loaded} (source, slave, update_id, chunk, loaded)
VALUES (%(source)s, %(slave)s, %(update)s, %(chunk)s, %(rows)s)
