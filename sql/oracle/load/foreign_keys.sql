-- Foreign keys of the user's tables. Manual: Database Reference, "USER_CONSTRAINTS".
SELECT known.table_name, known.constraint_name FROM user_constraints known
WHERE known.constraint_type = 'R'
ORDER BY known.table_name, known.constraint_name
