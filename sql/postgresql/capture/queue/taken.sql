SELECT trans_key, repl_key, relid, db_action::pg_catalog."char" AS db_action, content, oldcontent FROM {queue} WHERE {within}
