-- Where a slave is, for those who wait for it and let it move on meanwhile.
SELECT epoch, segment, ordinal, snapshot FROM {position} WHERE source = %(source)s AND slave = %(slave)s
