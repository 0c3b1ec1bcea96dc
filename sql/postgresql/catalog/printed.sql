-- Columns that the server computes by printing a float, bytes or an interval: settings of the session that writes a row
-- decide how.
SELECT namespace.nspname || '.' || class.relname || '.' || attribute.attname
FROM unnest({tables}) AS wanted (relid)
JOIN pg_class AS class ON class.oid = wanted.relid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attgenerated <> ''
    AND NOT attribute.attisdropped
JOIN pg_attrdef AS made ON made.adrelid = class.oid AND made.adnum = attribute.attnum
WHERE made.adbin::text ~ ('\{{COERCEVIAIO :arg \{{\w+( :\w+ [\w-]+)*? :\w*type ('
    || concat_ws('|', 'real'::regtype::oid, 'double precision'::regtype::oid, 'bytea'::regtype::oid,
                 'interval'::regtype::oid) || ')\M')
ORDER BY 1
