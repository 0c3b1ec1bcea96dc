-- FOR SHARE: no drain moves the slave on before the block is in (R10).
SELECT segment, ordinal FROM {position} WHERE source = %(source)s AND slave = %(slave)s FOR SHARE
