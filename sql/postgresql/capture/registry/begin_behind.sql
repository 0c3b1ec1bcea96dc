SELECT setval({seq_name}::regclass, greatest(%(last_key)s::bigint, 1))
