-- The key of the last row of the next block; none if fewer rows are left.
SELECT {key} FROM {table} WHERE {within} ORDER BY {sorted} LIMIT 1 OFFSET {before}
