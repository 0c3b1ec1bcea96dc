SELECT count(rows), coalesce(sum(rows), 0) FROM {loaded}
WHERE source = %(source)s AND slave = %(slave)s AND update_id = %(update)s
