-- How far the server is: the transaction ids and the keys that it has given. And the ids of tables, which a dump and a subscription
-- give anew: what is queued names tables by theirs.
SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, seq.last_value,
       concat_ws(' ', {queue_name}::regclass::oid, seq.tableoid)
FROM {seq} AS seq
