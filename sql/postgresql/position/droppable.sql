-- Those of these tables that are there; partitions go with the table that they are of.
SELECT number
FROM unnest(%(names)s::text[]) WITH ORDINALITY AS wanted (name, number)
JOIN pg_class AS class ON class.oid = to_regclass(wanted.name)
WHERE class.relkind IN ('r', 'p') AND NOT class.relispartition
ORDER BY number
