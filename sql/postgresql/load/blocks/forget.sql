DELETE FROM {ranges} WHERE source = %(source)s AND slave = %(slave)s
