SELECT oid::bigint, pg_relation_size(oid), relfilenode::bigint FROM pg_class WHERE oid = ANY (%(relations)s::oid[])
