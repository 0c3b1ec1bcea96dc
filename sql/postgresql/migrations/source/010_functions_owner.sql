-- Trigger functions belong to whoever owns the registry, also where an event trigger makes them. The bootstrap that follows
-- says so to the function that makes them.
SELECT version FROM {state}
