-- Whole transactions in the order of their largest key (R1). Row images are full of double quotes and commas, which would
-- all be doubled or quoted; of these two characters hardly a text has one.
COPY (
    WITH whole AS (
        SELECT trans_key, max(repl_key) AS last FROM ({taken}) AS taken GROUP BY trans_key
    )
    SELECT whole.last, trans_key, repl_key, relid, db_action, content, oldcontent
    FROM ({taken}) AS taken
    JOIN whole USING (trans_key)
    ORDER BY whole.last, repl_key
) TO STDOUT (FORMAT csv, DELIMITER E'\x02', QUOTE E'\x01')
