-- Keys that cut a range into parts of about so many rows.
SELECT DISTINCT {column}
FROM (SELECT {column}, row_number() OVER (ORDER BY {column}) AS n FROM {rows} WHERE {within}) AS numbered
WHERE n > 1 AND n % {step} = 1
ORDER BY {column}
