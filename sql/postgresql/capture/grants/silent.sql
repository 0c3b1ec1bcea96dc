-- Lets the role keep foreign keys and triggers from acting on what it writes, in its own sessions (`SET
-- session_replication_role`): those of the slave that would do again what the master did. Tables that Sluice makes then have
-- the foreign keys of the master, with their actions; and they fill faster, for nothing is checked twice. The price: in such a
-- session the role can write rows that break foreign keys of the tables that it may write to. For PostgreSQL 15 and newer.
GRANT SET ON PARAMETER session_replication_role TO {role}
