-- What bears the name of a table, and is none. A materialized view has a table of its name, too. Manual: Database Reference,
-- "ALL_OBJECTS".
SELECT made.object_type
FROM all_objects made
WHERE made.owner = :schema AND made.object_name = :name AND made.object_type IN ('VIEW', 'MATERIALIZED VIEW')
