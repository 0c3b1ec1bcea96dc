-- By the index, from its low end: neither what is queued behind nor pages that a purge emptied are read.
SELECT repl_key FROM {queue} ORDER BY repl_key OFFSET %(nth)s LIMIT 1
