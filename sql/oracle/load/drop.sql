-- Commits. A table goes into the recycle bin, if the database has one, and stays if a foreign key refers to it. Manual: SQL Language
-- Reference, "DROP TRIGGER", "DROP VIEW", "DROP MATERIALIZED VIEW", "DROP SYNONYM", "DROP SEQUENCE", "DROP INDEX", "DROP TABLE";
-- PL/SQL Language Reference, "DROP PACKAGE Statement", "DROP PROCEDURE Statement", "DROP FUNCTION Statement".
DROP {kind} {name}
