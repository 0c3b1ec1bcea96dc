-- An error if no operator tells whether two values of the column are the same (json, xml, point).
SELECT FROM {table} WHERE false GROUP BY {column}
