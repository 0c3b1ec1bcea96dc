-- What of a slave's table would act on what is written to it, or refuse it, in words. Manual: Database Reference, "ALL_TRIGGERS",
-- "ALL_CONSTRAINTS", "ALL_TAB_COLS", "ALL_INDEXES", "ALL_TABLES", "ALL_POLICIES", "ALL_VIEWS".
SELECT 'the trigger ' || acting.trigger_name AS obstacle
FROM all_triggers acting
WHERE acting.table_owner = :schema AND acting.table_name = :name AND acting.status = 'ENABLED'
UNION ALL
SELECT 'the constraint ' || known.constraint_name
FROM all_constraints known
WHERE known.owner = :schema AND known.table_name = :name AND known.status = 'ENABLED'
  AND (
      known.constraint_type IN ('R', 'U')
      -- A NOT NULL of a column is a check, too; another one may only end like it.
      OR known.constraint_type = 'C' AND NOT EXISTS (
          SELECT 1 FROM all_tab_cols part
          WHERE part.owner = known.owner AND part.table_name = known.table_name AND part.nullable = 'N'
            AND known.search_condition_vc = '"' || part.column_name || '" IS NOT NULL'
      )
  )
UNION ALL
SELECT 'the foreign key ' || referring.constraint_name || ' of ' || referring.table_name
FROM all_constraints known
JOIN all_constraints referring ON referring.r_owner = known.owner AND referring.r_constraint_name = known.constraint_name
WHERE known.owner = :schema AND known.table_name = :name AND referring.constraint_type = 'R' AND referring.status = 'ENABLED'
UNION ALL
SELECT 'the unique index ' || ordering.index_name
FROM all_indexes ordering
WHERE ordering.table_owner = :schema AND ordering.table_name = :name AND ordering.uniqueness = 'UNIQUE' AND ordering.index_type <> 'LOB'
  AND NOT EXISTS (
      SELECT 1 FROM all_constraints known
      WHERE known.owner = :schema AND known.table_name = :name AND known.constraint_type IN ('P', 'U')
        AND known.index_name = ordering.index_name
  )
UNION ALL
SELECT 'the policy ' || guarding.policy_name
FROM all_policies guarding
WHERE guarding.object_owner = :schema AND guarding.object_name = :name AND guarding.enable = 'YES'
  AND NOT EXISTS (SELECT 1 FROM session_privs held WHERE held.privilege = 'EXEMPT ACCESS POLICY')
UNION ALL
SELECT 'no rows of its own that last' FROM all_tables kept
WHERE kept.owner = :schema AND kept.table_name = :name AND (kept.temporary = 'Y' OR kept.nested = 'YES')
UNION ALL
SELECT 'the query of a view' FROM all_views seen WHERE seen.owner = :schema AND seen.view_name = :name
