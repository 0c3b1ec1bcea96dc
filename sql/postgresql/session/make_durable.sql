-- Writes nothing but log; its commit flushes everything that committed before, also what was committed without waiting (R2).
SELECT pg_logical_emit_message(true, 'sluice', 'durable')
