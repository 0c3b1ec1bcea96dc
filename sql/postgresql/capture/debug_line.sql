INSERT INTO {debug_table} (repl_key, line)
    VALUES (nextval({seq_name}::regclass), format('%s on %s.%s by transaction %s', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME, pg_current_xact_id()));
