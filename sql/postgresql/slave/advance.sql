-- Moves the position in the transaction of the data; touches no row if somebody took over (R3, R6).
UPDATE {position} SET segment = %(segment)s, ordinal = %(ordinal)s
WHERE source = %(source)s AND slave = %(slave)s AND epoch = %(epoch)s
