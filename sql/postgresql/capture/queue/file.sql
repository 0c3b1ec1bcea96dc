SELECT pg_relation_filenode({queue_name}::regclass)
