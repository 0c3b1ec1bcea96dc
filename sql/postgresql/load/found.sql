SELECT part, rows FROM {loaded} WHERE source = %(source)s AND slave = %(slave)s AND part IS NOT NULL ORDER BY chunk
