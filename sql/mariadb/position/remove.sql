-- In the transaction in which the control store forgets the replication.
DELETE FROM {position} WHERE source = %(source)s AND slave = %(slave)s
