SELECT oid::bigint FROM pg_database WHERE datname = current_database()
