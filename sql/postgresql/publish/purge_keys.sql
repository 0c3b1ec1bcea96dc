DELETE FROM {queue} WHERE repl_key = ANY (%(keys)s)
