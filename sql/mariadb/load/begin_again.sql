-- Chunks without rows stay: there is nothing for the slave in them.
UPDATE {loaded} SET loaded = NULL
WHERE source = %(source)s AND slave = %(slave)s AND update_id = %(load_id)s AND loaded > 0
