DELETE FROM {indexes} WHERE ("schema", "table") IN (SELECT * FROM unnest(%(schemas)s::text[], %(tables)s::text[]))
