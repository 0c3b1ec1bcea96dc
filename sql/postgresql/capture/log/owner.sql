-- Whose a slot is: its plugin, and whether it is of this database. It asks for no place: some servers without slots tell none.
SELECT plugin, database = current_database() FROM pg_replication_slots WHERE slot_name = {slot}::name
