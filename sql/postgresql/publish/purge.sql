-- Within the sweep's own snapshot a range takes nothing that the sweep did not see (R2).
DELETE FROM {queue} AS queue
WHERE queue.repl_key <= {bound}
  AND NOT EXISTS (
    SELECT FROM {queue} AS later WHERE later.trans_key = queue.trans_key AND later.repl_key > {bound})
