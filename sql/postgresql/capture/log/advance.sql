SELECT pg_replication_slot_advance({slot}::name, '0/0'::pg_lsn + {lsn}::numeric)
