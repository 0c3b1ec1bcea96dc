-- Keys and checks of a table, as their definitions; without those that a foreign key or NOT NULL makes.
SELECT conname, pg_get_constraintdef(oid)
FROM pg_constraint
WHERE conrelid = %(relation)s::regclass AND contype IN ('p', 'u', 'c', 'x')
ORDER BY contype <> 'p', conname
