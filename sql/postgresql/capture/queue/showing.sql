-- Whether a snapshot shows something that is queued still.
SELECT EXISTS (SELECT FROM {queue} WHERE pg_visible_in_snapshot(trans_key, %(snapshot)s::pg_snapshot))
