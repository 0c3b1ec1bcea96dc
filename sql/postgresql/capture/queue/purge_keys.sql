-- A server that went back to an earlier state gives out the same keys again, mostly to other transactions.
DELETE FROM {queue} AS change
USING unnest(%(keys)s::bigint[], %(transactions)s::xid8[]) AS listed (repl_key, trans_key)
WHERE change.repl_key = listed.repl_key AND change.trans_key = listed.trans_key
