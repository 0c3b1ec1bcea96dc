SELECT chunk, loaded FROM {loaded}
WHERE source = %(source)s AND slave = %(slave)s AND update_id = %(load_id)s AND loaded IS NOT NULL
