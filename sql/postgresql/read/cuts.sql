-- The last keys of all parts of a range but the last part, about as large as each other, by a sample of its table's blocks.
SELECT DISTINCT ON (part) {key}
FROM (SELECT {key}, ntile({parts}) OVER (ORDER BY {key}) AS part
      FROM {rows} TABLESAMPLE SYSTEM ({percent}) WHERE {within}) AS sample
WHERE part < {parts}
ORDER BY part, {last}
