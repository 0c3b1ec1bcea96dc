-- A collation by its name, as it goes into a statement.
SELECT format('%%I.%%I', namespace.nspname, coll.collname)
FROM pg_collation AS coll
JOIN pg_namespace AS namespace ON namespace.oid = coll.collnamespace
WHERE coll.oid = to_regcollation(%(name)s)
