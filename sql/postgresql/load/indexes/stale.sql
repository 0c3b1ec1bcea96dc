-- What somebody has built by hand meanwhile, or has dropped with its table, is not built again.
DELETE FROM {indexes} AS noted
WHERE ("schema", "table") IN (SELECT * FROM unnest(%(schemas)s::text[], %(tables)s::text[]))
  AND NOT EXISTS (
    SELECT FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = noted."schema" AND class.relname = noted."table"
      AND NOT EXISTS (SELECT FROM pg_class AS other WHERE other.relnamespace = namespace.oid AND other.relname = noted.name)
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = class.oid AND conname = noted.name)
      AND NOT (noted.is_key AND EXISTS (SELECT FROM pg_index WHERE indrelid = class.oid AND indisprimary)))
