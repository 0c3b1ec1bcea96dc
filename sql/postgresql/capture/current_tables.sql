INSERT INTO {current_tables} (relname) SELECT DISTINCT tablename FROM {tables} ON CONFLICT DO NOTHING
