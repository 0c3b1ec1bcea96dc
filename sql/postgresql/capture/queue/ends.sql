SELECT min(repl_key), max(repl_key) FROM {queue}
