SELECT "schema", "table", name, built, bound FROM {indexes}
WHERE ("schema", "table") IN (SELECT * FROM unnest(%(schemas)s::text[], %(tables)s::text[]))
ORDER BY "schema", "table", is_key DESC, name
