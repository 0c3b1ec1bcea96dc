-- In the transaction that records the segment: what of the server's log is published (R2).
UPDATE {log} SET lsn = '0/0'::pg_lsn + %(lsn)s::numeric, ahead = %(ahead)s::text[]::xid8[], layouts = %(layouts)s
