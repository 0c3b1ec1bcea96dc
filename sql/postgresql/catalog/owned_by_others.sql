-- Those of these tables whose owners are no members of our role, if that is a superuser.
SELECT class.oid::regclass::text
FROM unnest({tables}) AS watched (relid)
JOIN pg_class AS class ON class.oid = watched.relid
JOIN pg_roles AS us ON us.rolname = current_user AND us.rolsuper
WHERE NOT pg_has_role(class.relowner, us.oid, 'MEMBER')
ORDER BY 1
