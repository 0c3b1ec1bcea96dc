-- ALWAYS: sessions with session_replication_role = replica change rows too (R9).
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {trigger}
