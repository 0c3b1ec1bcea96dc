-- Tables with a segment that is gone, is another one, or was put there: some command changed rows, and no trigger of rows saw it
-- (R9). A table that is gone itself is none of them. Manual: SQL Language Reference, "The Set Operators".
SELECT known.relid
FROM {segments} known
WHERE EXISTS (SELECT 1 FROM {stored} found WHERE found.relid = known.relid)
  AND NOT EXISTS (
      SELECT 1 FROM {stored} found
      WHERE found.relid = known.relid AND found.object_id = known.object_id AND found.data_object_id = known.data_object_id
  )
UNION
SELECT found.relid
FROM {stored} found
WHERE found.object_id <> found.data_object_id
  AND EXISTS (SELECT 1 FROM {segments} known WHERE known.relid = found.relid)
  AND NOT EXISTS (
      SELECT 1 FROM {segments} known WHERE known.relid = found.relid AND known.object_id = found.object_id
  )
