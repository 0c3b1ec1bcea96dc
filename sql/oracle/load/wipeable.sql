-- What the user's schema has that a DROP of its own takes: nothing that is a part of something else, belongs to a constraint or to an
-- identity column, or is in the recycle bin; and no trigger of the database, of a schema, or on a table of others. Manual: Database
-- Reference, "USER_OBJECTS", "USER_TABLES", "USER_MVIEWS", "USER_MVIEW_LOGS", "USER_INDEXES", "USER_CONSTRAINTS", "USER_TRIGGERS".
SELECT made.object_type, made.object_name
FROM user_objects made
WHERE made.object_type IN ('TRIGGER', 'MATERIALIZED VIEW', 'VIEW', 'SYNONYM', 'PACKAGE', 'PROCEDURE', 'FUNCTION', 'SEQUENCE', 'INDEX', 'TABLE')
  AND made.object_name NOT LIKE 'BIN$%' AND made.object_name NOT LIKE 'ISEQ$$%'
  AND NOT EXISTS (
      SELECT 1 FROM user_tables kept
      WHERE made.object_type = 'TABLE' AND kept.table_name = made.object_name
        AND (kept.nested = 'YES' OR kept.secondary = 'Y' OR kept.iot_type IN ('IOT_OVERFLOW', 'IOT_MAPPING'))
  )
  AND NOT EXISTS (SELECT 1 FROM user_mviews seen WHERE made.object_type = 'TABLE' AND seen.container_name = made.object_name)
  AND NOT EXISTS (SELECT 1 FROM user_mview_logs seen WHERE made.object_type = 'TABLE' AND seen.log_table = made.object_name)
  AND NOT EXISTS (
      SELECT 1 FROM user_indexes ordering
      WHERE made.object_type = 'INDEX' AND ordering.index_name = made.object_name
        AND (ordering.index_type LIKE 'IOT%' OR ordering.index_type = 'LOB')
  )
  AND NOT EXISTS (SELECT 1 FROM user_constraints known WHERE made.object_type = 'INDEX' AND known.index_name = made.object_name)
  AND (
      made.object_type <> 'TRIGGER' OR EXISTS (
          SELECT 1 FROM user_triggers acting
          WHERE acting.trigger_name = made.object_name AND acting.table_owner = :schema
            AND TRIM(acting.base_object_type) IN ('TABLE', 'VIEW')
      )
  )
ORDER BY made.object_type, made.object_name
