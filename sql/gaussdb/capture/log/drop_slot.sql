SELECT pg_drop_replication_slot({slot}::name)
