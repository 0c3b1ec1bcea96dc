SELECT pg_relation_size({queue_name}::regclass) > %(bytes)s
