-- The primary keys of relations: the numbers of their columns, whether they are checked at once, and their text.
SELECT i.indrelid::bigint, array_to_string(i.indkey, ' '), i.indimmediate, c.conname::text, pg_get_constraintdef(c.oid)
FROM pg_index AS i
JOIN pg_constraint AS c ON c.conrelid = i.indrelid AND c.contype = 'p'
WHERE i.indisprimary AND i.indrelid = ANY (%(relations)s::oid[])
