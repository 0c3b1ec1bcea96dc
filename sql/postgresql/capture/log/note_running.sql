-- The transactions that run now. Decoding can begin at such a note, once all is published that committed before it.
SELECT pg_catalog.pg_log_standby_snapshot()
