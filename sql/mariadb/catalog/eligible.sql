-- The tables of a database that wildcards may take.
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_schema = %(schema)s AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'sluice\_%%'
ORDER BY table_name
