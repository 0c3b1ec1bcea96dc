-- What the server's log brought is published.
DELETE FROM {queue} WHERE repl_key = ANY (%(keys)s)
