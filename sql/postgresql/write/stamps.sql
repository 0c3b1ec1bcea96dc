-- What grows with each change of a table by which rows are written otherwise, or may run other code: its columns, owner, checks,
-- indexes, triggers, rules and partitions.
SELECT xmin::text::bigint AS stamp FROM pg_class WHERE oid = ANY ({tables})
UNION ALL
SELECT xmin::text::bigint FROM pg_attribute WHERE attrelid = ANY ({tables}) AND attnum > 0
UNION ALL
SELECT xmin::text::bigint FROM pg_index WHERE indrelid = ANY ({tables})
UNION ALL
SELECT xmin::text::bigint FROM pg_constraint WHERE conrelid = ANY ({tables})
UNION ALL
SELECT xmin::text::bigint FROM pg_trigger WHERE tgrelid = ANY ({tables})
UNION ALL
SELECT xmin::text::bigint FROM pg_rewrite WHERE ev_class = ANY ({tables})
UNION ALL
SELECT xmin::text::bigint FROM pg_inherits WHERE inhparent = ANY ({tables})
