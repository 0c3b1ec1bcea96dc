-- What a logical restore brought along bears transaction ids of another cluster, which no snapshot of this one tells from
-- new ones. The initial update that follows has it all (R5).
DELETE FROM {queue} WHERE NOT pg_visible_in_snapshot(trans_key, pg_current_snapshot())
