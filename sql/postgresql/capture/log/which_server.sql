-- Whether this is a standby, and the identity that it shares with its master.
SELECT pg_is_in_recovery(), system_identifier::text FROM pg_control_system()
