SELECT pg_export_snapshot(), txid_current_snapshot()::text
