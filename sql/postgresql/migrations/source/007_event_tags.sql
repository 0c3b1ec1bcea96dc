-- The event trigger did not hear ALTER INDEX, VIEW, MATERIALIZED VIEW and FOREIGN TABLE, which rename tables and their
-- columns too. The bootstrap that follows makes it again.
SELECT version FROM {state}
