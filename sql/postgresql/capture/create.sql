-- The table is watched from here on: its CREATE, for those who follow already. The rows that it has do not follow.
SELECT {command}(
    'N', now.relid, NULL,
    {described}(now.relid, NULL, {table_definition}(now.relid), false) || jsonb_build_object('unfilled', true), NULL)
FROM (SELECT %(relation)s::oid AS relid) AS now
