UPDATE {loaded} SET rows = %(rows)s
WHERE source = %(source)s AND slave = %(slave)s AND update_id = %(update)s AND chunk = %(chunk)s
