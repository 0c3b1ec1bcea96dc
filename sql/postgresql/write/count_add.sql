WITH staged AS MATERIALIZED (
    SELECT stage.*, ROW({values})::text AS image FROM {stage} AS stage WHERE sluice_a > 0 OR sluice_b > 0
), present AS MATERIALIZED (
    SELECT ROW({targets})::text AS image, count(*) AS present
    FROM {rows} AS target
    WHERE EXISTS (SELECT FROM staged WHERE sluice_b > sluice_a)
    GROUP BY 1
)
INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE
SELECT {values}
FROM staged AS stage
LEFT JOIN present ON present.image = stage.image AND stage.sluice_b > stage.sluice_a
CROSS JOIN LATERAL generate_series(
    1,
    CASE WHEN stage.sluice_b > stage.sluice_a
         THEN greatest(stage.sluice_a, stage.sluice_b - coalesce(present.present, 0))
         ELSE stage.sluice_a
    END)
