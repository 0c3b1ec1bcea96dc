-- The superusers that the role in use can become by SET ROLE, although it is none itself.
SELECT quote_ident(other.rolname)
FROM pg_catalog.pg_roles AS ours
JOIN pg_catalog.pg_roles AS other
    ON other.rolsuper AND pg_catalog.pg_has_role(ours.oid, other.oid, 'MEMBER')
WHERE ours.rolname = current_user AND NOT ours.rolsuper
ORDER BY other.rolname
