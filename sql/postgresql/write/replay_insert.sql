INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE VALUES ({values})
