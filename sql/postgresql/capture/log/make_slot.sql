-- Waits for the transactions that are open.
SELECT lsn - '0/0'::pg_lsn FROM pg_create_logical_replication_slot({slot}::name, 'pgoutput')
