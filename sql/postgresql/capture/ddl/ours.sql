-- Whether what is installed is our role's own: whom a slave is drained by may be another one, who may only take out of the queue.
SELECT pg_catalog.pg_has_role(relowner, 'USAGE') FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass({notes_name})
