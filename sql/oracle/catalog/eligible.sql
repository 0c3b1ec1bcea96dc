-- Tables that wildcards may take: no temporary ones, none of the recycle bin, none that the server made for another one or
-- writes by itself. Manual: Database Reference, "ALL_TABLES", "ALL_EXTERNAL_TABLES", "ALL_MVIEWS", "ALL_MVIEW_LOGS".
SELECT kept.owner, kept.table_name
FROM all_tables kept
WHERE kept.owner = :schema AND kept.temporary = 'N' AND kept.nested = 'NO' AND kept.secondary = 'N' AND kept.dropped = 'NO'
  AND (kept.iot_type IS NULL OR kept.iot_type = 'IOT')
  AND NOT EXISTS (
      SELECT 1 FROM all_external_tables outside WHERE outside.owner = kept.owner AND outside.table_name = kept.table_name
  )
  AND NOT EXISTS (SELECT 1 FROM all_mviews made WHERE made.owner = kept.owner AND made.container_name = kept.table_name)
  AND NOT EXISTS (SELECT 1 FROM all_mview_logs made WHERE made.log_owner = kept.owner AND made.log_table = kept.table_name)
ORDER BY kept.owner, kept.table_name
