SELECT command FROM {intent} WHERE source = %(source)s AND slave = %(slave)s
