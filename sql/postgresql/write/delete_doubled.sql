-- Rows of a key that comes, and all but one of a key that changes; where no index lets a key be there once at most.
DELETE FROM {rows} AS target USING (
    SELECT target.tableoid AS part, target.ctid AS place, stage.sluice_op,
           row_number() OVER (PARTITION BY stage.ctid ORDER BY target.tableoid, target.ctid) AS nth
    FROM {rows} AS target
    JOIN {stage} AS stage ON {same_key}
    WHERE stage.sluice_op <> 'D'
) AS found
WHERE target.tableoid = found.part AND target.ctid = found.place AND (found.sluice_op = 'I' OR found.nth > 1)
