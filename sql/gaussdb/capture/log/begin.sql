-- All is published that committed before the slot was made.
UPDATE {state} SET slot = %(slot)s::text, lsn = %(lsn)s::bigint, ahead = ''
