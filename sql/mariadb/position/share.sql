-- The same of those who load chunks side by side, and of a comparison, while which the slave stands still (R6, R10).
SELECT epoch, segment, ordinal, snapshot FROM {position}
WHERE source = %(source)s AND slave = %(slave)s LOCK IN SHARE MODE
