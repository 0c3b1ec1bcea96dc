-- The text of a statement that set off an event, out of what its client sent: that may hold other statements, and values in them.
-- NULL where it cannot be cut out for certain: a function ran the statement; several are of its kind; there are texts in dollars,
-- comments in comments, or backslashes that end a text under one setting and not under another. Comments are left out, too.
CREATE OR REPLACE FUNCTION {own_text}(sent text, tag text, context text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $own_text$
    WITH token AS (
        SELECT part[1] AS word, place, count(*) FILTER (WHERE part[1] = ';') OVER (ORDER BY place) AS statement
        FROM regexp_matches(
            sent,
            $$--[^\n\r]*|/[*](?:[^*]|[*]+[^*/])*[*]+/$$
                -- Texts with backslashes, other texts, quoted names, names and words; any other sign.
                || $$|[eE]'(?:[^'\\]|''|\\.)*'|'(?:[^'\\]|''|\\+[^'\\])*'|"(?:[^"]|"")*"$$
                || $$|[^\x01-\x40\x5b-\x5e\x60\x7b-\x7f][^\x01-\x23\x25-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]*|[^'"$]$$,
            'g') WITH ORDINALITY AS found (part, place)
        WHERE length(sent) <= 100000 AND position(E'\n' IN context) = 0
    ), cut AS (
        SELECT btrim(string_agg(CASE WHEN word LIKE ANY (ARRAY['--%', '/*%']) THEN ' ' WHEN word <> ';' THEN word ELSE '' END,
                                '' ORDER BY place), E' \t\n\r\f\v') AS said,
               sum(length(word)) AS length,
               bool_or(word LIKE '/*%/*%') AS is_nested
        FROM token
        GROUP BY statement
    )
    SELECT CASE WHEN sum(length) = length(sent) AND NOT bool_or(is_nested) AND count(*) FILTER (WHERE is_alike) = 1
                THEN max(said) FILTER (WHERE is_alike) END
    FROM cut, LATERAL (SELECT upper(substring(said, '^[[:alpha:]]+')) = split_part(tag, ' ', 1) AS is_alike) AS kind
$own_text$
