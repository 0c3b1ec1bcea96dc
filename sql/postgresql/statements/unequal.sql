-- Columns of a table in which texts are equal that differ.
SELECT format('the collation of %%I', a.attname)
FROM pg_attribute AS a
JOIN pg_class AS class ON class.oid = a.attrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
JOIN pg_collation AS coll ON coll.oid = a.attcollation
WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s AND a.attnum > 0 AND NOT a.attisdropped
  AND NOT coll.collisdeterministic
