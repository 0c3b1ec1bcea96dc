-- Whether a schema of ours has nothing in it.
SELECT NOT EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = namespace.oid)
   AND NOT EXISTS (SELECT 1 FROM pg_proc WHERE pronamespace = namespace.oid)
   AND pg_get_userbyid(nspowner) = current_user
FROM pg_namespace AS namespace
WHERE nspname = {schema}::text
