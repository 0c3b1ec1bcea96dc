-- The snapshot of every watched table is taken anew, and the registry learns which relations they are. What is as it was
-- is not written again: somebody may be altering one of these tables, and would hold us up, or be held up by us (R9).
WITH entry AS (
    SELECT entry.schemaname, entry.tablename, class.oid AS relid, {table_definition}(class.oid) AS definition,
           {partitions}(class.oid) AS partitions
    FROM {tables} AS entry
    JOIN pg_namespace AS namespace ON namespace.nspname = entry.schemaname
    JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = entry.tablename
), found AS (
    UPDATE {tables} AS known SET relid = entry.relid
    FROM entry
    WHERE (known.schemaname, known.tablename) = (entry.schemaname, entry.tablename)
      AND known.relid IS DISTINCT FROM entry.relid
), unwatched AS (
    DELETE FROM {current_tables} AS known
    WHERE NOT EXISTS (SELECT FROM {tables} AS kept WHERE kept.relid = known.relid)
      AND NOT EXISTS (SELECT FROM entry WHERE entry.relid = known.relid)
)
INSERT INTO {current_tables} (relid, schemaname, relname, definition, partitions)
SELECT relid, schemaname, tablename, definition, partitions FROM entry
WHERE NOT EXISTS (
    SELECT FROM {current_tables} AS known
    WHERE (known.relid, known.schemaname, known.relname, known.definition, known.partitions)
        = (entry.relid, entry.schemaname, entry.tablename, entry.definition, entry.partitions))
ON CONFLICT (relid) DO UPDATE
SET schemaname = EXCLUDED.schemaname, relname = EXCLUDED.relname, definition = EXCLUDED.definition,
    partitions = EXCLUDED.partitions
