-- Keys that cut a large table into parts about as large as each other, by a sample of its blocks.
SELECT DISTINCT {column}
FROM (SELECT {column}, row_number() OVER (ORDER BY {column}) AS n, count(*) OVER () AS rows
      FROM {rows} TABLESAMPLE SYSTEM ({percent})) AS numbered
WHERE n > 1 AND n % (rows / {parts} + 1) = 1
ORDER BY {column}
