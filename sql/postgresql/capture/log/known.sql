-- The slot, what is published of it, and the layouts there; and whether what triggers captured is published first.
SELECT slot::text, lsn - '0/0'::pg_lsn, ahead::text[]::bigint[], layouts, coalesce(phase = 'queue', false)
FROM {log} WHERE phase IS DISTINCT FROM 'over'
