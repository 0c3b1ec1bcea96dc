-- Tables that our role may not read.
SELECT oid::bigint FROM pg_class WHERE oid = ANY (%(relations)s::oid[]) AND NOT has_table_privilege(oid, 'SELECT')
