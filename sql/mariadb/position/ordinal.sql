-- Where the transaction before left it (R3, R6); the row is locked by now.
SELECT epoch, ordinal FROM {position} WHERE source = %(source)s AND slave = %(slave)s FOR UPDATE
