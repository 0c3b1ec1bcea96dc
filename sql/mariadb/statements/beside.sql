-- What of a master's table does something by itself when a statement changes its rows, in words.
SELECT CONCAT('the trigger ', trigger_name) FROM information_schema.triggers
WHERE event_object_schema = %(schema)s AND event_object_table = %(table)s
UNION ALL
SELECT CONCAT('the column ', column_name, ', ', extra) FROM information_schema.columns
WHERE table_schema = %(schema)s AND table_name = %(table)s AND (extra LIKE '%%on update%%'
    OR extra LIKE '%%VIRTUAL GENERATED%%' OR extra LIKE '%%STORED GENERATED%%')
