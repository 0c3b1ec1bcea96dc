-- The places of tables of which a part, themselves or a partition, waits at a commit and does not draw its last key (R1).
SELECT DISTINCT wanted.n
FROM unnest(%(relations)s::text[]::regclass[], %(triggers)s::text[]) WITH ORDINALITY AS wanted (relid, tgname, n)
CROSS JOIN LATERAL {checked_late}(wanted.relid::oid) AS late (relid)
WHERE NOT EXISTS (
    SELECT FROM pg_trigger AS made
    WHERE made.tgrelid = late.relid AND made.tgname = wanted.tgname AND made.tgfoid = {mark_function_name}::regprocedure
      AND {fires}(made::pg_trigger, 29::integer))
