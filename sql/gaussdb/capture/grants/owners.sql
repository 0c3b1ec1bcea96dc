-- Who owns tables, but for a role itself.
SELECT DISTINCT pg_get_userbyid(relowner)::text
FROM pg_class
WHERE oid = ANY (%(relations)s::oid[]) AND pg_get_userbyid(relowner)::text <> %(role)s::text
ORDER BY 1
