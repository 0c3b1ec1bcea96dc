-- Other tables whose foreign keys refer to a table, as far as the user sees them. Manual: Database Reference, "ALL_CONSTRAINTS".
SELECT DISTINCT referring.owner, referring.table_name
FROM all_constraints known
JOIN all_constraints referring ON referring.r_owner = known.owner AND referring.r_constraint_name = known.constraint_name
WHERE known.owner = :schema AND known.table_name = :name AND referring.constraint_type = 'R'
  AND NOT (referring.owner = known.owner AND referring.table_name = known.table_name)
ORDER BY referring.owner, referring.table_name
