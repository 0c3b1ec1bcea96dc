-- What a table's images list now: its live columns in attribute order, the positions of its primary key among them, and
-- whether a constraint on it, or one that refers to it, is checked only at commit.
CREATE OR REPLACE FUNCTION {current_layout}(relation oid, OUT columns jsonb, OUT key jsonb, OUT deferred boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $current_layout$
    WITH live AS (
        SELECT a.attnum, row_number() OVER (ORDER BY a.attnum) - 1 AS place
        FROM pg_attribute AS a
        WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
    )
    SELECT
        {listed}(relation::oid),
        coalesce((
            SELECT jsonb_agg(live.place ORDER BY part.n)
            FROM pg_constraint AS c
            CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS part (attnum, n)
            JOIN live USING (attnum)
            WHERE c.conrelid = relation AND c.contype = 'p'), '[]'),
        EXISTS (
            SELECT FROM pg_constraint AS c
            WHERE (c.conrelid = relation OR c.confrelid = relation) AND c.condeferrable AND c.contype <> 't')
$current_layout$
