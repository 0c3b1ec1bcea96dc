-- What a schema has already. Manual: Database Reference, "ALL_OBJECTS".
SELECT made.object_type, made.object_name, made.status FROM all_objects made WHERE made.owner = :schema
