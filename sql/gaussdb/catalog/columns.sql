-- The columns of relations: name, type, whether it takes no NULL, and the type without its modifiers, as the log names it.
SELECT a.attrelid::bigint, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull, format_type(a.atttypid, NULL), a.attnum::integer
FROM pg_attribute AS a
WHERE a.attrelid = ANY (%(relations)s::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
