SELECT update_id FROM {ranges} WHERE source = %(source)s AND slave = %(slave)s LIMIT 1
