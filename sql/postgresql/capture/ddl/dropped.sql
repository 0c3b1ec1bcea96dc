-- The DROPs that are queued, in order.
SELECT content FROM {queue} WHERE db_action::"char" = 'X' ORDER BY repl_key
