DELETE FROM {loaded} WHERE source = %(source)s AND slave = %(slave)s
