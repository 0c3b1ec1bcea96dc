UPDATE {position} SET segment = %(segment)s, ordinal = %(ordinal)s, snapshot = %(snapshot)s
WHERE source = %(source)s AND slave = %(slave)s AND epoch = %(epoch)s
