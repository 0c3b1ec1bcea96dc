-- Columns that the server computes by printing floats, shapes of them, bytes or an interval, also of an array or of a
-- domain: settings of the session that writes a row decide how.
WITH RECURSIVE printed (type) AS (
    SELECT unnest('{{real,double precision,point,lseg,line,box,path,polygon,circle,bytea,interval}}'::regtype[])::oid
    UNION SELECT type.oid FROM printed JOIN pg_type AS type ON type.typbasetype = printed.type
)
SELECT namespace.nspname || '.' || class.relname || '.' || attribute.attname
FROM unnest({tables}) AS wanted (relid)
JOIN pg_class AS class ON class.oid = wanted.relid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attgenerated <> ''
    AND NOT attribute.attisdropped
JOIN pg_attrdef AS made ON made.adrelid = class.oid AND made.adnum = attribute.attnum
-- The type of what is printed, which may stand behind what that is made of: one pair of braces.
WHERE made.adbin::text ~ ('\{{COERCEVIAIO :arg \{{\w+( :\w+ ([\w-]+|\{{[^}}{{]*\}}))*? :\w*type(Id)? ('
    || (SELECT string_agg(type::text, '|') FROM printed) || ')\M')
ORDER BY 1
