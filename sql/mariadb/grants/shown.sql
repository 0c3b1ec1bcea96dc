-- What this account is shown in a database: nothing if there is no such one.
SELECT COUNT(tables.table_name)
FROM information_schema.schemata AS named
LEFT JOIN information_schema.tables AS tables ON tables.table_schema = named.schema_name
WHERE named.schema_name = %(schema)s
GROUP BY named.schema_name
