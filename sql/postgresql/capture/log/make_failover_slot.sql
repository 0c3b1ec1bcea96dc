-- Waits for the transactions that are open. Standbys may copy the slot, so that one that is promoted has it.
SELECT lsn - '0/0'::pg_lsn FROM pg_create_logical_replication_slot({slot}::name, 'pgoutput', failover => true)
