-- The columns of the primary key in its order, and whether it may be checked late. Manual: Database Reference, "ALL_CONSTRAINTS",
-- "ALL_CONS_COLUMNS".
SELECT part.column_name, known.deferrable
FROM all_constraints known
JOIN all_cons_columns part ON part.owner = known.owner AND part.constraint_name = known.constraint_name
WHERE known.owner = :schema AND known.table_name = :name AND known.constraint_type = 'P' AND known.status = 'ENABLED'
ORDER BY part.position
