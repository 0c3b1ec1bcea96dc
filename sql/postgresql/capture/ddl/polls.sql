-- Whether DDL is found by polling: no event trigger sees it.
SELECT NOT EXISTS (
    SELECT FROM pg_catalog.pg_event_trigger
    WHERE evtfoid = pg_catalog.to_regprocedure({altered_name}) AND evtenabled <> 'D')
