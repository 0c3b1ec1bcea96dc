-- Indexes that can be built again as they are: with the name and the definition from CREATE on, and what binds a constraint
-- to each. None that something else relies on while it is gone: a foreign key, a replica identity, the capture of a master
-- that watches the table, subscribers of a publication. And none of which a definition does not say everything.
SELECT namespace.nspname, class.relname, index_class.relname, index.indisprimary, pg_get_indexdef(index_class.oid),
       entry.conname,
       CASE entry.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' END
           || ' USING INDEX ' || quote_ident(index_class.relname)
           || CASE WHEN entry.condeferrable THEN ' DEFERRABLE' ELSE '' END
           || CASE WHEN entry.condeferred THEN ' INITIALLY DEFERRED' ELSE '' END
FROM unnest(%(schemas)s::text[], %(tables)s::text[]) AS wanted (schema, "table")
JOIN pg_namespace AS namespace ON namespace.nspname = wanted.schema
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = wanted."table"
JOIN pg_index AS index ON index.indrelid = class.oid
JOIN pg_class AS index_class ON index_class.oid = index.indexrelid
LEFT JOIN pg_constraint AS entry
    ON entry.conindid = index_class.oid AND entry.conrelid = class.oid AND entry.contype IN ('p', 'u', 'x')
WHERE class.relkind = 'r' AND NOT class.relispartition AND pg_has_role(class.relowner, 'USAGE')
  AND has_schema_privilege(class.relowner, namespace.oid, 'CREATE')
  AND NOT EXISTS (SELECT FROM pg_inherits WHERE class.oid IN (inhrelid, inhparent))
  AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = class.oid AND NOT tgisinternal)
  AND NOT EXISTS (SELECT FROM pg_publication_rel WHERE prrelid = class.oid)
  AND NOT EXISTS (SELECT FROM pg_publication_namespace WHERE pnnspid = namespace.oid)
  AND NOT EXISTS (SELECT FROM pg_publication WHERE puballtables)
  AND index.indisvalid AND NOT (index.indisexclusion OR index.indisclustered OR index.indisreplident)
  AND index_class.reltablespace = 0 AND index_class.relowner = class.relowner
  AND NOT EXISTS (SELECT FROM pg_constraint AS other WHERE other.conindid = index_class.oid AND other.contype = 'f')
  AND NOT EXISTS (
    SELECT FROM pg_description
    WHERE (classoid, objoid) IN (('pg_class'::regclass, index_class.oid), ('pg_constraint'::regclass, entry.oid)))
  AND NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = index_class.oid AND coalesce(attstattarget, -1) <> -1)
  AND NOT EXISTS (
    SELECT FROM pg_depend WHERE deptype IN ('e', 'x')
      AND (classid, objid) IN (('pg_class'::regclass, index_class.oid), ('pg_constraint'::regclass, entry.oid)))
ORDER BY 1, 2, index.indisprimary DESC, 3
