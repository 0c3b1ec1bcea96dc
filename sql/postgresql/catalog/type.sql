-- A type by its name: a text that is more than the name of one type is an error, or names none.
SELECT type.oid::bigint, type.typtype = 'd' FROM pg_type AS type WHERE type.oid = to_regtype(%(name)s)
