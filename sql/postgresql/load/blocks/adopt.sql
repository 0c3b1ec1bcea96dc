UPDATE {ranges} SET update_id = %(update)s WHERE source = %(source)s AND slave = %(slave)s
