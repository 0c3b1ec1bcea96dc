UPDATE {position} SET epoch = %(epoch)s WHERE source = %(source)s AND slave = %(slave)s
