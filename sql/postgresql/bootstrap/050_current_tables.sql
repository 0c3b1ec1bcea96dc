CREATE TABLE IF NOT EXISTS {current_tables} (relname varchar(63) PRIMARY KEY)
