-- Segments that came with a new partition, which have the number of their object. Those that a command put there have another
-- one, and stay unknown. Manual: SQL Language Reference, "INSERT"; Database Reference, "ALL_OBJECTS".
INSERT INTO {segments} (relid, object_id, data_object_id)
SELECT found.relid, found.object_id, found.data_object_id
FROM {stored} found
WHERE NOT EXISTS (
    SELECT 1 FROM {segments} known WHERE known.relid = found.relid AND known.object_id = found.object_id
)
  AND (
      found.object_id = found.data_object_id
      OR NOT EXISTS (SELECT 1 FROM {segments} known WHERE known.relid = found.relid)
  )
