-- Writes nothing but log; its commit flushes everything that committed before, whoever chose not to wait (R2).
SELECT pg_logical_emit_message(true, 'sluice', 'durable')
