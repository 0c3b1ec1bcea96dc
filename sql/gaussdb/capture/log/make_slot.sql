-- By place: the columns have other names on each kind of server. Waits for the transactions that are open.
SELECT made.place::text FROM pg_create_logical_replication_slot({slot}::name, {plugin}::name) AS made (slot, place)
