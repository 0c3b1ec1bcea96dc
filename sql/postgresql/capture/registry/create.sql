-- The table is watched from here on: its CREATE, for those who follow already. The rows that it has do not follow.
SELECT {command}(
    'N'::"char", now.relid::oid, NULL::jsonb,
    ({described}(now.relid::oid, NULL::jsonb, {table_definition}(now.relid::oid)::jsonb, false)
     || jsonb_build_object('unfilled', true))::jsonb,
    NULL::text)
FROM (SELECT %(relation)s::oid AS relid) AS now
