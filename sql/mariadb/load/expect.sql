INSERT INTO {loaded} (source, slave, update_id, chunk, loaded)
VALUES (%(source)s, %(slave)s, %(load_id)s, %(chunk)s, %(copied)s)
