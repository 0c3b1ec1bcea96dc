-- The replica identities of relations, which must be FULL for whole old rows.
SELECT oid::bigint, relreplident::text FROM pg_class WHERE oid = ANY (%(relations)s::oid[])
