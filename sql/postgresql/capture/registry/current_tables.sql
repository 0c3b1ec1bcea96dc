-- What watched tables are is recorded, and the registry learns which relations they are: of those that are new here, and
-- of `anew`. What is known of others stays, though they may be something else by now: that is a change which
-- nobody recorded yet, and which the next look sends (R7). So nobody who is altering one of them holds us up (R9).
WITH entry AS (
    SELECT entry.schemaname, entry.tablename, class.oid AS relid
    FROM {tables} AS entry
    JOIN pg_namespace AS namespace ON namespace.nspname = entry.schemaname
    JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = entry.tablename
    WHERE entry.status <> 'WANTED'
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
INSERT INTO {current_tables} (relid, schemaname, relname, definition, partitions, clones, types)
SELECT relid, schemaname, tablename, {table_definition}(relid::oid), {partitions}(relid::oid), {clones}(relid::oid),
       {types_reached}(relid::oid)
FROM entry
WHERE relid = ANY (%(anew)s::oid[])
   OR NOT EXISTS (SELECT FROM {current_tables} AS known WHERE known.relid = entry.relid)
ON CONFLICT (relid) DO UPDATE
SET schemaname = EXCLUDED.schemaname, relname = EXCLUDED.relname, definition = EXCLUDED.definition,
    partitions = EXCLUDED.partitions, clones = EXCLUDED.clones, types = EXCLUDED.types
