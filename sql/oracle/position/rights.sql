-- CREATE TABLE is for private temporary tables, too; on tables of its own a user has every right. Manual: SQL Language Reference,
-- "GRANT", "CREATE TABLE".
GRANT CREATE SESSION, CREATE TABLE TO {user}
