-- About how many bytes a row has.
SELECT IFNULL(avg_row_length, 0) FROM information_schema.tables
WHERE table_schema = %(schema)s AND table_name = %(table)s
