-- Whole transactions in the order of their largest key; a bounded sweep takes those whose keys are all within it (R1).
COPY (
    WITH whole AS (
        SELECT trans_key, max(repl_key) AS last FROM {queue} GROUP BY trans_key HAVING max(repl_key) <= {bound}
    )
    SELECT whole.last, trans_key, queue.repl_key, queue.relid, queue.db_action, queue.content, queue.oldcontent
    FROM {queue} AS queue
    JOIN whole USING (trans_key)
    ORDER BY whole.last, queue.repl_key
) TO STDOUT (FORMAT csv)
