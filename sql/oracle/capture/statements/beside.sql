-- What of a master's table does something by itself when a statement changes its rows, or hides some; in words. Manual: Database
-- Reference, "ALL_TRIGGERS", "ALL_CONSTRAINTS", "ALL_TAB_COLS", "ALL_POLICIES".
SELECT 'the trigger ' || acting.trigger_name AS obstacle
FROM all_triggers acting
WHERE acting.table_owner = :schema AND acting.table_name = :name AND acting.status = 'ENABLED'
  AND NOT (acting.owner = :home AND acting.trigger_name = :trigger_)
UNION ALL
SELECT 'the foreign key ' || referring.constraint_name || ' of ' || referring.table_name
FROM all_constraints known
JOIN all_constraints referring ON referring.r_owner = known.owner AND referring.r_constraint_name = known.constraint_name
WHERE known.owner = :schema AND known.table_name = :name AND referring.constraint_type = 'R' AND referring.status = 'ENABLED'
  AND referring.delete_rule <> 'NO ACTION'
UNION ALL
SELECT 'the computed column ' || part.column_name
FROM all_tab_cols part
WHERE part.owner = :schema AND part.table_name = :name AND part.virtual_column = 'YES'
UNION ALL
SELECT 'the column ' || part.column_name || ', whose NULL is replaced'
FROM all_tab_cols part
WHERE part.owner = :schema AND part.table_name = :name AND part.default_on_null = 'YES'
UNION ALL
SELECT 'the policy ' || guarding.policy_name
FROM all_policies guarding
WHERE guarding.object_owner = :schema AND guarding.object_name = :name AND guarding.enable = 'YES'
