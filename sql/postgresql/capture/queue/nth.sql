SELECT repl_key FROM {queue} OFFSET %(nth)s LIMIT 1
