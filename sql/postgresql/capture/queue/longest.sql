-- The change that is longest when it is printed, with its relation: the sweep's COPY doubles the character that it quotes with.
SELECT repl_key, trans_key::text, relid::regclass::text, (octets / 1048576)::bigint
FROM {queue}
CROSS JOIN LATERAL (
    SELECT coalesce(octet_length(content), 0::bigint) + coalesce(octet_length(oldcontent), 0) AS octets,
           coalesce(strpos(content, E'\x01') > 0, false) OR coalesce(strpos(oldcontent, E'\x01') > 0, false) AS doubled
) AS length
ORDER BY CASE WHEN doubled THEN 2 ELSE 1 END * octets DESC
LIMIT 1
