-- The rights that the account of this session was given itself, by the database that they are on, with `_` and `%%` as a grant
-- has them; on all of the server where there is none. Those of roles are not among them.
SELECT NULL AS db, privilege_type
FROM information_schema.user_privileges
WHERE grantee = %(account)s AND privilege_type <> 'USAGE'
UNION ALL
SELECT table_schema, privilege_type
FROM information_schema.schema_privileges
WHERE grantee = %(account)s
ORDER BY 1, 2
