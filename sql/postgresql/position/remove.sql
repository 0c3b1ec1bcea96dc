-- What we keep of one replication, which is removed.
DELETE FROM {table} WHERE source = %(source)s AND slave = %(slave)s
