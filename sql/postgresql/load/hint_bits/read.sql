SELECT count(*) FROM ONLY {table} WHERE ctid >= {begin}::tid AND ctid < {end}::tid
