-- In the transaction that moves the position past the command, or sets it.
DELETE FROM {intent} WHERE source = %(source)s AND slave = %(slave)s
