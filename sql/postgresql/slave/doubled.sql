-- A key that comes and is there already, or that changes and is there more than once; where no index would tell.
SELECT FROM {rows} AS target
JOIN {stage} AS stage ON {same_key}
WHERE stage.sluice_op <> 'D'
GROUP BY stage.ctid, stage.sluice_op
HAVING stage.sluice_op = 'I' OR count(*) > 1
LIMIT 1
