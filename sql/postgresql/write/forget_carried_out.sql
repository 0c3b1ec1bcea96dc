DELETE FROM {loaded}
WHERE source = %(source)s AND slave = %(slave)s AND chunk = -1 AND update_id <> ALL (%(kept)s::bigint[])
