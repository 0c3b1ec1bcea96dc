-- What the position's table says of the version, and whether all tables are there: one may have been renamed, since it was
-- somebody else's.
SELECT obj_description(to_regclass(%(position)s), 'pg_class'), bool_and(to_regclass(name) IS NOT NULL)
FROM unnest(%(kept)s::text[]) AS kept (name)
