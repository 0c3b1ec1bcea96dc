-- What of a table would act on what is written to it, or refuse it, in words.
SELECT CONCAT('it is of the type ', table_type, IFNULL(CONCAT(' and of the engine ', engine), ''))
FROM information_schema.tables
WHERE table_schema = %(schema)s AND table_name = %(table)s
  AND (table_type <> 'BASE TABLE' OR engine IS NULL OR engine <> 'InnoDB')
UNION ALL
SELECT CONCAT('the trigger ', trigger_name) FROM information_schema.triggers
WHERE event_object_schema = %(schema)s AND event_object_table = %(table)s
UNION ALL
SELECT CONCAT('the constraint ', constraint_name, ', ', constraint_type) FROM information_schema.table_constraints
WHERE table_schema = %(schema)s AND table_name = %(table)s AND constraint_type <> 'PRIMARY KEY'
UNION ALL
SELECT CONCAT('the foreign key ', constraint_name, ' of ', table_name) FROM information_schema.referential_constraints
WHERE CAST(unique_constraint_schema AS BINARY) = %(schema)s AND CAST(referenced_table_name AS BINARY) = %(table)s
UNION ALL
SELECT DISTINCT CONCAT('the constraint ', held.constraint_name, ', of which only its name is shown to this account')
FROM information_schema.key_column_usage AS held
LEFT JOIN information_schema.table_constraints AS shown
    ON CAST(shown.table_schema AS BINARY) = CAST(held.table_schema AS BINARY)
    AND CAST(shown.table_name AS BINARY) = CAST(held.table_name AS BINARY) AND shown.constraint_name = held.constraint_name
WHERE held.table_schema = %(schema)s AND held.table_name = %(table)s AND shown.constraint_name IS NULL
UNION ALL
-- Rows that differ behind them would be one row.
SELECT CONCAT('the primary key of the first ', sub_part, ' characters of ', column_name)
FROM information_schema.statistics
WHERE table_schema = %(schema)s AND table_name = %(table)s AND index_name = 'PRIMARY' AND sub_part IS NOT NULL
