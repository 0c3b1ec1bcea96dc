-- A row if the log has nothing of what the server takes over from another one: it follows one, or has followed one and may do so again.
-- Every account is shown both, unlike SHOW ALL REPLICAS STATUS.
-- Source: MariaDB Knowledge Base, "Replication and Binary Log System Variables", "Replication and Binary Log Status Variables".
SELECT 1
FROM dual
WHERE @@GLOBAL.log_slave_updates = 0 AND (
    @@GLOBAL.gtid_slave_pos <> '' OR EXISTS (
        SELECT 1 FROM information_schema.global_status WHERE variable_name = 'SLAVES_RUNNING' AND variable_value <> '0'
    )
)
