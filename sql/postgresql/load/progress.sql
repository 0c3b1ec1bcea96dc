SELECT chunk, rows FROM {loaded}
WHERE source = %(source)s AND slave = %(slave)s AND update_id = %(update)s AND rows IS NOT NULL
