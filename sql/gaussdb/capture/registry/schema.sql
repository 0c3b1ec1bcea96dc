-- Whether a schema is there, and whether it belongs to our role.
SELECT pg_get_userbyid(nspowner) = current_user FROM pg_namespace WHERE nspname = {schema}::text
