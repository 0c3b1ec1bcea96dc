-- Statements that take back what default privileges have given others on our tables, views and sequences: all of it, but of
-- those that were `known` before the right to make triggers alone. A right to read ITEMS was given by a person.
SELECT DISTINCT format('REVOKE %%s ON %%I.%%I FROM %%s CASCADE', CASE WHEN known.so THEN 'TRIGGER' ELSE 'ALL' END, namespace.nspname,
                       class.relname, CASE WHEN acl.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(acl.grantee)) END)
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
CROSS JOIN LATERAL aclexplode(class.relacl) AS acl
CROSS JOIN LATERAL (SELECT class.relname = ANY (%(known)s::text[])) AS known (so)
WHERE namespace.nspname = {schema_name} AND class.relname = ANY (%(names)s::text[]) AND class.relkind IN ('r', 'v', 'S')
  AND acl.grantee <> class.relowner AND (acl.privilege_type = 'TRIGGER' OR NOT known.so)
