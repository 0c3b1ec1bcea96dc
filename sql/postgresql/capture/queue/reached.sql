-- How far the server is: the transaction ids and the keys that it has given.
SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, seq.last_value FROM {seq} AS seq
