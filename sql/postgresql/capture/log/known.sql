-- The slot, what is published of it, and the layouts there.
SELECT slot::text, lsn - '0/0'::pg_lsn, ahead::text[]::bigint[], layouts FROM {log} WHERE phase IS DISTINCT FROM 'over'
