-- What the user of a source needs whatever it watches. CREATE ANY TRIGGER: its triggers are on tables of others. Manual: SQL
-- Language Reference, "GRANT", "CREATE TRIGGER"; PL/SQL Packages and Types Reference, "DBMS_SCHEDULER".
GRANT CREATE SESSION, CREATE TABLE, CREATE SEQUENCE, CREATE VIEW, CREATE PROCEDURE, CREATE TRIGGER, CREATE JOB, CREATE ANY TRIGGER TO {user}
