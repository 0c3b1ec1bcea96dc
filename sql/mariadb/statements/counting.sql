-- A 0 in such a column is numbered anew.
SELECT column_name FROM information_schema.columns
WHERE table_schema = %(schema)s AND table_name = %(table)s AND extra LIKE '%%auto_increment%%'
