-- The key of the last row of the next block; none if fewer rows are left.
SELECT {key} FROM {rows} WHERE {within} ORDER BY {key} OFFSET {before} LIMIT 1
