"""Reading a slot over the streaming replication protocol."""
