-- In the transaction of the data (R3).
UPDATE {position} SET segment = %(segment)s, ordinal = %(ordinal)s
WHERE source = %(source)s AND slave = %(slave)s AND epoch = %(epoch)s AND ordinal = %(from)s
