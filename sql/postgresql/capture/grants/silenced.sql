-- The right that `silent` gives the role of this session, with the statement that ends it. For PostgreSQL 15 and newer.
SELECT 'keeping triggers and foreign keys from acting',
       format('REVOKE SET ON PARAMETER %%s FROM %%I', parameter.parname, ours.rolname)
FROM pg_catalog.pg_roles AS ours
CROSS JOIN pg_catalog.pg_parameter_acl AS parameter
CROSS JOIN LATERAL aclexplode(parameter.paracl) AS given
WHERE ours.rolname = current_user AND NOT ours.rolsuper AND parameter.parname = %(name)s::text AND given.grantee = ours.oid
