-- Rows without a key: those that look alike are one, with a count c that becomes max(c + a, b). Rows are compared as
-- texts, which any type has, and in which NULL equals NULL.
WITH staged AS MATERIALIZED (
    SELECT ROW({values})::text AS image, stage.sluice_a, stage.sluice_b FROM {stage} AS stage
    WHERE stage.sluice_b > stage.sluice_a
), found AS MATERIALIZED (
    SELECT target.tableoid AS part, target.ctid AS place, staged.image, staged.sluice_a, staged.sluice_b,
           row_number() OVER (PARTITION BY staged.image) AS nth,
           count(*) OVER (PARTITION BY staged.image) AS present
    FROM {rows} AS target
    JOIN staged ON staged.image = ROW({targets})::text
)
DELETE FROM {rows} AS target USING found
WHERE target.tableoid = found.part AND target.ctid = found.place
  AND found.nth > greatest(found.present + found.sluice_a, found.sluice_b)
