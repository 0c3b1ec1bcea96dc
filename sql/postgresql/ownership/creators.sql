-- Roles that may make things in a schema and are not ours, the statement that ends it, and whether they own the schema, so that
-- they could drop what is in it. `pg_database_owner` is the owner of the database.
SELECT DISTINCT CASE WHEN who.role = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(who.role)) END,
       CASE WHEN who.owns THEN format('ALTER SCHEMA %I OWNER TO %I', namespace.nspname, current_user)
            WHEN who.role = 0 THEN format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', namespace.nspname)
            ELSE format('REVOKE CREATE ON SCHEMA %I FROM %I', namespace.nspname, pg_get_userbyid(who.role)) END,
       who.owns
FROM pg_namespace AS namespace
JOIN pg_database AS here ON here.datname = current_database()
CROSS JOIN LATERAL (
    SELECT granted.grantee, false
    FROM aclexplode(namespace.nspacl) AS granted
    WHERE granted.privilege_type = 'CREATE' AND granted.grantee <> namespace.nspowner
    UNION ALL
    SELECT CASE pg_get_userbyid(namespace.nspowner) WHEN 'pg_database_owner' THEN here.datdba ELSE namespace.nspowner END, true
) AS who (role, owns)
WHERE namespace.nspname = {schema_name} AND (who.role = 0 OR NOT pg_has_role(who.role, current_user, 'MEMBER'))
ORDER BY 1
