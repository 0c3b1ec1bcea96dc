-- Whether a row that came and another bear what a constraint wants to be one row's; nothing tells in a session that
-- silences triggers, and with them constraints that are checked late.
SELECT FROM {stage} AS stage
JOIN {rows} AS target ON {same}
WHERE {came}
GROUP BY stage.ctid
HAVING count(*) > 1
LIMIT 1
