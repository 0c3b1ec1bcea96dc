-- Whether this is a standby, the identity that it shares with its master, and the database.
SELECT pg_is_in_recovery(), system_identifier::text, current_database() FROM pg_control_system()
