-- Commits. Manual: SQL Language Reference, "DROP TRIGGER", "DROP VIEW", "DROP MATERIALIZED VIEW", "DROP SYNONYM", "DROP SEQUENCE",
-- "DROP INDEX"; PL/SQL Language Reference, "DROP PACKAGE Statement", "DROP PROCEDURE Statement", "DROP FUNCTION Statement".
DROP {kind} {name}
