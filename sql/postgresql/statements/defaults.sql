-- What becomes of the columns of a table that a statement gives no value: an identity, or a default.
SELECT a.attname, a.attidentity <> '', pg_catalog.pg_get_expr(def.adbin, def.adrelid)
FROM pg_catalog.pg_attribute AS a
LEFT JOIN pg_catalog.pg_attrdef AS def ON def.adrelid = a.attrelid AND def.adnum = a.attnum
WHERE a.attrelid = to_regclass(%(table)s) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  AND a.attname <> ALL (%(given)s) AND (a.attidentity <> '' OR def.oid IS NOT NULL)
ORDER BY a.attnum
