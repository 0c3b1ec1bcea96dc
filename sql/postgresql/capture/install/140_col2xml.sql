-- COL2XML of Table 2.4: all columns of a row image as the guide's literal. A row image is what record_out writes: fields
-- parted by commas, in double quotes where needed, with quotes and backslashes doubled inside; nothing at all is NULL.
CREATE OR REPLACE FUNCTION {col2xml}(columns jsonb, image text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (
    SELECT string_agg(
        {col2xml}(
            (field.col ->> 0)::text,
            (field.col ->> 1)::text,
            (CASE
                WHEN field.raw = '' THEN NULL
                WHEN field.raw LIKE '"%' THEN
                    replace(replace(substr(field.raw, 2, length(field.raw) - 2), '""', '"'), E'\\\\', E'\\')
                ELSE field.raw
            END)::text),
        '' ORDER BY field.n)
    FROM (
        SELECT columns -> (split.n - 1)::int AS col, split.n, split.match[1] AS raw
        FROM regexp_matches(substr(image, 2, length(image) - 2) || ',', '("(?:[^"]|"")*"|[^",]*),', 'g')
             WITH ORDINALITY AS split (match, n)
    ) AS field
    WHERE image IS NOT NULL)
