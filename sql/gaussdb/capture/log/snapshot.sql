SELECT txid_current_snapshot()::text
