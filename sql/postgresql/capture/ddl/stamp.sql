-- One number that is another one as soon as somebody touched what the catalog says of watched tables, or what is recorded
-- of them: much cheaper than to compare the two. Every version of a row has the id of the transaction that wrote it.
WITH RECURSIVE tree (relid) AS (
    SELECT relid FROM {tables}
    UNION
    SELECT below.inhrelid FROM tree JOIN pg_inherits AS below ON below.inhparent = tree.relid
), reached (type) AS MATERIALIZED (
    SELECT DISTINCT key::oid FROM {current_tables} CROSS JOIN LATERAL jsonb_object_keys(types) AS key
)
SELECT sum(hash_record_extended(version, 0))::text
FROM (
    SELECT ROW(1, class.oid, 0, class.xmin, namespace.xmin) AS version
    FROM tree
    JOIN pg_class AS class ON class.oid = tree.relid
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    UNION ALL
    SELECT ROW(2, a.attrelid, a.attnum::integer, a.xmin, type.xmin)
    FROM tree
    JOIN pg_attribute AS a ON a.attrelid = tree.relid AND a.attnum > 0
    LEFT JOIN pg_type AS type ON type.oid = a.atttypid
    UNION ALL
    SELECT ROW(3, def.adrelid, def.adnum::integer, def.xmin, NULL::xid)
    FROM tree JOIN pg_attrdef AS def ON def.adrelid = tree.relid
    UNION ALL
    SELECT ROW(4, entry.oid, 0, entry.xmin, NULL::xid)
    FROM pg_constraint AS entry WHERE conrelid IN (SELECT relid FROM tree) OR confrelid IN (SELECT relid FROM tree)
    UNION ALL
    SELECT ROW(5, below.inhrelid, below.inhseqno, below.xmin, NULL::xid)
    FROM tree JOIN pg_inherits AS below ON below.inhrelid = tree.relid
    UNION ALL
    SELECT ROW(6, made.oid, 0, made.xmin, NULL::xid) FROM tree JOIN pg_trigger AS made ON made.tgrelid = tree.relid
    UNION ALL
    SELECT ROW(7, relid, 0, xmin, NULL::xid) FROM {tables}
    UNION ALL
    SELECT ROW(8, relid, 0, xmin, NULL::xid) FROM {layouts}
    UNION ALL
    SELECT ROW(9, relid, 0, xmin, NULL::xid) FROM {current_tables}
    UNION ALL
    SELECT ROW(10, label.oid, 0, label.xmin, NULL::xid) FROM reached JOIN pg_enum AS label ON label.enumtypid = reached.type
    UNION ALL
    SELECT ROW(11, a.attrelid, a.attnum::integer, a.xmin, NULL::xid)
    FROM reached
    JOIN pg_type AS type ON type.oid = reached.type AND type.typtype = 'c'
    JOIN pg_attribute AS a ON a.attrelid = type.typrelid AND a.attnum > 0
    UNION ALL
    SELECT ROW(12, listed.prrelid, 0, listed.xmin, publication.xmin)
    FROM pg_publication AS publication
    LEFT JOIN pg_publication_rel AS listed ON listed.prpubid = publication.oid
    WHERE publication.pubname IN ({rows_name}, {commands_name})
) AS known
