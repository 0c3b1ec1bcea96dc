SELECT count(*) FROM {table} WHERE ctid >= {begin}::tid AND ctid < {end}::tid
