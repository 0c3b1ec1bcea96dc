-- Whether the configuration, as the source knows it, wants a table, and it is there.
SELECT FROM ({living}) AS living
WHERE (schemaname, relname) = (%(schema)s, %(table)s) AND EXISTS (SELECT FROM {wants}(schemaname::text, relname::text))
