-- The tables of a database that wildcards may take. Names with halves of pairs of UTF-16 are no text; no other set takes these.
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_schema = %(schema)s AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'sluice\_%%'
    AND CAST(table_name AS BINARY) = CAST(CONVERT(CONVERT(table_name USING utf16) USING utf8mb4) AS BINARY)
ORDER BY table_name
