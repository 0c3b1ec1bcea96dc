-- Columns that are NOT NULL by a constraint of their own, and not by the primary key. Manual: Database Reference, "ALL_CONSTRAINTS".
SELECT known.search_condition_vc
FROM all_constraints known
WHERE known.owner = :schema AND known.table_name = :name AND known.constraint_type = 'C' AND known.status = 'ENABLED'
