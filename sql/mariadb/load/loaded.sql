UPDATE {loaded} SET loaded = %(rows)s
WHERE source = %(source)s AND slave = %(slave)s AND update_id = %(update)s AND chunk = %(chunk)s
