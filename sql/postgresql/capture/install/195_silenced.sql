-- Watched tables that do not fire, or not for all sessions, rows and actions: a trigger was dropped, renamed, disabled or
-- replaced, be it on a single partition (R9). One that nobody has looked at yet has lost nothing: it gets its trigger of TRUNCATE at the first look. Of a
-- foreign table no trigger says all: its rows change elsewhere. Where rows are read from the server's log: tables of which it does
-- not say all; all of them, where it does not say what happens to tables.
CREATE OR REPLACE FUNCTION {silenced}() RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $silenced$
    WITH recorded AS MATERIALIZED (
        SELECT DISTINCT ON (relid) relid, deferred FROM {layouts} ORDER BY relid, repl_key DESC
    ), ours (mark, truncating) AS (
        VALUES ({mark_function_name}::regprocedure::oid, {truncating_name}::regprocedure::oid)
    )
    SELECT entry.relid
    FROM {tables} AS entry
    JOIN pg_class AS class ON class.oid = entry.relid
    CROSS JOIN ours
    CROSS JOIN (SELECT coalesce((SELECT by_log FROM {settings}), false)) AS way (by_log)
    CROSS JOIN LATERAL (
        SELECT rtrim(coalesce(entry.actions, 'IUD')) AS actions,
               to_regprocedure(format('%I.%I()', {schema_name}, {capture_name} || entry.relid))::oid AS function
    ) AS wanted
    -- As in pg_trigger.tgtype: 1 for each row, 2 before, 4 INSERT, 8 DELETE, 16 UPDATE, 32 TRUNCATE.
    CROSS JOIN LATERAL (
        SELECT sum(bit)::integer AS rows
        FROM (VALUES ('', 1), ('I', 4), ('D', 8), ('U', 16)) AS known (action, bit)
        WHERE strpos(wanted.actions, action) > 0
    ) AS type
    WHERE wanted.actions <> ''
      AND (way.by_log AND (
        EXISTS (
            SELECT FROM {tree}(entry.relid::oid) AS tree (relid)
            JOIN pg_class AS one ON one.oid = tree.relid
            WHERE one.relkind = 'f' OR one.relpersistence = 'u' OR one.relkind = 'r' AND one.relreplident <> 'f')
        OR NOT EXISTS (
            SELECT FROM pg_publication_rel AS listed
            JOIN pg_publication AS publication ON publication.oid = listed.prpubid
            WHERE publication.pubname = {rows_name} AND listed.prrelid = entry.relid AND listed.prqual IS NULL
              AND listed.prattrs IS NULL AND publication.pubinsert AND publication.pubupdate AND publication.pubdelete)
        OR (
            SELECT count(*) FROM pg_publication_rel AS listed
            JOIN pg_publication AS publication ON publication.oid = listed.prpubid
            WHERE publication.pubname = {commands_name} AND publication.pubinsert AND listed.prqual IS NULL
              AND listed.prattrs IS NULL AND listed.prrelid IN (to_regclass({queue_name}), to_regclass({layouts_name}))) < 2)
      OR EXISTS (
        SELECT FROM (
            SELECT member.oid, CASE WHEN member.relkind <> 'f' THEN entry.trigger_name END, wanted.function, type.rows
            FROM {tree}(entry.relid::oid) AS tree (relid)
            JOIN pg_class AS member ON member.oid = tree.relid
            WHERE NOT way.by_log
            UNION ALL
            SELECT member, entry.trigger_name || '_t', CASE member WHEN entry.relid THEN wanted.function ELSE ours.truncating END,
                   CASE member WHEN entry.relid THEN 32 ELSE 34 END
            FROM unnest({partitions}(entry.relid::oid) || entry.relid) AS member
            WHERE wanted.actions LIKE '%D%'
              AND (member = entry.relid OR member IN (
                SELECT unnest(known.partitions) FROM {current_tables} AS known WHERE known.relid = entry.relid))
            UNION ALL
            SELECT entry.relid, entry.trigger_name || suffix, ours.truncating, bits
            FROM (VALUES ('_b', 34), ('_e', 32)) AS ends (suffix, bits)
            WHERE class.relkind = 'p' AND wanted.actions LIKE '%D%'
            UNION ALL
            SELECT member, 'W_' || entry.trigger_name, ours.mark, 29
            FROM unnest({partitions}(entry.relid::oid) || entry.relid) AS member
            WHERE NOT way.by_log AND member IN (SELECT recorded.relid FROM recorded WHERE recorded.deferred)
        ) AS needed (relid, name, function, type)
        WHERE NOT EXISTS (
            SELECT FROM pg_trigger AS made
            WHERE made.tgrelid = needed.relid AND made.tgfoid = needed.function
              AND {fires}(made::pg_trigger, needed.type::integer)
              AND made.tgname = needed.name)))
$silenced$
