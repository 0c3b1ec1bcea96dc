CREATE TABLE IF NOT EXISTS {debug_table} (repl_key bigint PRIMARY KEY, line text NOT NULL)
