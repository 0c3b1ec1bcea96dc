-- Moves the position on in the transaction of the data, from exactly where the transaction before left it. It touches no
-- row if somebody took over, or set the position (R3, R6).
UPDATE {position} SET segment = %(segment)s, ordinal = %(ordinal)s
WHERE source = %(source)s AND slave = %(slave)s AND epoch = %(epoch)s AND ordinal = %(from)s
