-- The same of those who wait for a slave, and let it move on meanwhile.
SELECT epoch, segment, ordinal, snapshot FROM {position} WHERE source = %(source)s AND slave = %(slave)s
