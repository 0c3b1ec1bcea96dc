SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = {slot}::name)
