-- In the transaction that loads the rows: nobody else loads a chunk beside its holder, and none loads twice (R3).
SELECT chunk FROM {loaded}
WHERE source = %(source)s AND slave = %(slave)s AND update_id = %(load_id)s
  AND chunk >= %(low)s AND chunk < %(high)s AND loaded IS NULL
ORDER BY chunk LIMIT 1 FOR UPDATE {held}
