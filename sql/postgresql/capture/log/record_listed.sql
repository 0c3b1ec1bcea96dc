-- Transactions that are in the change log, and that nobody recorded here.
UPDATE {log} SET ahead = ahead || %(transactions)s::text[]::xid8[]
