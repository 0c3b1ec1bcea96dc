UPDATE {loaded} SET loaded = %(copied)s
WHERE source = %(source)s AND slave = %(slave)s AND update_id = %(load_id)s AND chunk = %(chunk)s
