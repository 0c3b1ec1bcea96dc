SELECT trans_key, repl_key, relid, db_action, content, oldcontent FROM {queue} WHERE {within}
