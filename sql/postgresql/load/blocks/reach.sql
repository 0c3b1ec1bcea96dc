-- In the transaction that loads the rows; touches no row if another has loaded them, or begun anew (R3, R6).
UPDATE {ranges} SET reached = coalesce(%(now)s::text[], reached), rows = rows + %(rows)s, ended = %(now)s::text[] IS NULL
WHERE source = %(source)s AND slave = %(slave)s AND number = %(number)s AND update_id = %(update)s
  AND NOT ended AND reached IS NOT DISTINCT FROM %(reached)s::text[]
