-- How far the server is: the transaction ids and the keys that it has given. A copy of its files has the record at the same place, written
-- by the same transaction. A dump and a subscription write it anew, and what is queued there has ids of other tables and transactions.
SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, seq.last_value,
       concat_ws(' ', state.tableoid, state.ctid, state.xmin)
FROM {seq} AS seq, {state} AS state
