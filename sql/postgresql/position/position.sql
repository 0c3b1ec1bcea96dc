SELECT segment, ordinal FROM {position} WHERE source = %(source)s AND slave = %(slave)s
