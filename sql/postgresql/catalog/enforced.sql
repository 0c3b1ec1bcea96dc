-- Whether an index of the table lets no two rows bear one key, and says so at once: a unique one on columns of the key.
SELECT EXISTS (
    SELECT FROM pg_index AS i
    JOIN pg_class AS class ON class.oid = i.indrelid
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname = %(schema)s AND class.relname = %(table)s
      AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND NOT EXISTS (
        SELECT FROM generate_series(0, i.indnkeyatts - 1) AS n
        JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n]
        WHERE a.attname <> ALL (%(key)s)))
