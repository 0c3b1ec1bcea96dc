-- The DbResources of the prefix repl_, capturing a table t, as they were before they had a version.
-- CACHE 1: a session that took keys ahead would hand them out after others had drawn later ones (R1).
CREATE SEQUENCE IF NOT EXISTS "public"."repl_seq" AS bigint CACHE 1;
-- What ITEMS is stored as: the cheapest row image the database can write, rendered as the guide's columns by "public"."repl_items".
CREATE TABLE IF NOT EXISTS "public"."repl_queue" (
    repl_key   bigint PRIMARY KEY,
    trans_key  xid8   NOT NULL DEFAULT pg_catalog.pg_current_xact_id(),
    relid      oid    NOT NULL,
    db_action  "char" NOT NULL,
    content    text,
    oldcontent text
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 1000000);
-- The columns that images of a table list, from repl_key on: an ALTER TABLE waits for every writer of the table, so its
-- key lies between those of the images before and after it (R7).
CREATE TABLE IF NOT EXISTS "public"."repl_layouts" (
    repl_key   bigint PRIMARY KEY,
    relid      oid     NOT NULL,
    schemaname text    NOT NULL,
    tablename  text    NOT NULL,
    columns    jsonb   NOT NULL,
    key        jsonb   NOT NULL,
    deferred   boolean NOT NULL
);
-- Table 2.2 of the guide.
CREATE TABLE IF NOT EXISTS "public"."repl_tables" (
    catalogname  varchar(63) NOT NULL DEFAULT ' ',
    schemaname   varchar(63) NOT NULL,
    tablename    varchar(63) NOT NULL,
    actions      char(3),
    status       varchar(50) NOT NULL DEFAULT 'CREATING',
    repl_key     bigint      NOT NULL,
    trigger_name varchar(63) NOT NULL,
    debug        integer     NOT NULL DEFAULT 0,
    PRIMARY KEY (catalogname, schemaname, tablename)
);
CREATE TABLE IF NOT EXISTS "public"."repl_current_tables" (relname varchar(63) PRIMARY KEY);
CREATE TABLE IF NOT EXISTS "public"."repl_debug_table" (repl_key bigint PRIMARY KEY, line text NOT NULL);
-- One row: which incarnation of the source this is, the newest segment whose changes were purged here, and the fence
-- that every publisher reads FOR SHARE (R2, R6).
CREATE TABLE IF NOT EXISTS "public"."repl_state" (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    incarnation uuid    NOT NULL DEFAULT pg_catalog.gen_random_uuid(),
    segment     bigint  NOT NULL DEFAULT 0,
    sha256      text    NOT NULL DEFAULT '',
    epoch       bigint  NOT NULL DEFAULT 0,
    backend_pid integer
);
INSERT INTO "public"."repl_state" DEFAULT VALUES ON CONFLICT DO NOTHING;
-- INCREMENT of Table 2.4: the next unique key.
CREATE OR REPLACE FUNCTION "public"."repl_increment"() RETURNS bigint LANGUAGE sql VOLATILE AS $increment$
    SELECT pg_catalog.nextval('"public"."repl_seq"'::pg_catalog.regclass)
$increment$;
-- NEEDS_PROT of Table 2.4: 0 plain, 1 CDATA, 2 base64 (what XML could not give back as it was).
CREATE OR REPLACE FUNCTION "public"."repl_needs_prot"(value text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $needs_prot$
    SELECT CASE
        WHEN value OPERATOR(pg_catalog.~) E']]>|[\x01-\x08\x0b-\x1f\ufffe\uffff]' THEN 2
        WHEN value OPERATOR(pg_catalog.~) '[<&]' THEN 1
        ELSE 0
    END
$needs_prot$;
-- One column as an XML literal; a bytea is always base64, NULL is not ''.
CREATE OR REPLACE FUNCTION "public"."repl_col2xml"(name text, type text, value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $col2xml$
    SELECT '<col name="'
        || replace(replace(replace(replace(replace(replace(replace(
               name, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), E'\n', '&#10;'), E'\r', '&#13;'), E'\t', '&#9;')
        || '"'
        || CASE
            WHEN value IS NULL THEN ' type="null"/>'
            WHEN type = 'bytea' THEN
                ' encoding="base64">' || translate(encode(decode(substr(value, 3), 'hex'), 'base64'), E'\n', '') || '</col>'
            ELSE CASE "public"."repl_needs_prot"(value)
                WHEN 2 THEN
                    ' type="text" encoding="base64">'
                    || translate(encode(convert_to(value, 'UTF8'), 'base64'), E'\n', '') || '</col>'
                WHEN 1 THEN '><![CDATA[' || value || ']]></col>'
                ELSE '>' || value || '</col>'
            END
        END
$col2xml$;
-- COL2XML of Table 2.4: all columns of a row image as the guide's literal. A row image is what record_out writes: fields
-- parted by commas, in double quotes where needed, with quotes and backslashes doubled inside; nothing at all is NULL.
CREATE OR REPLACE FUNCTION "public"."repl_col2xml"(columns jsonb, image text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $col2xml$
    SELECT string_agg(
        "public"."repl_col2xml"(
            field.col ->> 0,
            field.col ->> 1,
            CASE
                WHEN field.raw = '' THEN NULL
                WHEN field.raw LIKE '"%' THEN
                    replace(replace(substr(field.raw, 2, length(field.raw) - 2), '""', '"'), E'\\\\', E'\\')
                ELSE field.raw
            END),
        '' ORDER BY field.n)
    FROM (
        SELECT columns -> (split.n - 1)::int AS col, split.n, split.match[1] AS raw
        FROM regexp_matches(substr(image, 2, length(image) - 2) || ',', '("(?:[^"]|"")*"|[^",]*),', 'g')
             WITH ORDINALITY AS split (match, n)
    ) AS field
    WHERE image IS NOT NULL
$col2xml$;
-- Table 2.1 of the guide, as a view: whoever selects from it sees the guide's columns and its literals.
CREATE OR REPLACE VIEW "public"."repl_items" AS
SELECT
    queue.repl_key,
    queue.trans_key::text AS trans_key,
    current_database()::text AS dbid,
    layout.tablename,
    NULL::text AS guid,
    CASE queue.db_action
        WHEN 'I' THEN 'INSERT' WHEN 'U' THEN 'UPDATE' WHEN 'D' THEN 'DELETE' WHEN 'T' THEN 'TRUNCATE' ELSE 'COMMIT'
    END AS db_action,
    NULL::text AS db_catalog,
    layout.schemaname AS db_schema,
    "public"."repl_col2xml"(layout.columns, queue.content) AS content,
    "public"."repl_col2xml"(layout.columns, queue.oldcontent) AS oldcontent,
    '0.0'::text AS version
FROM "public"."repl_queue" AS queue
LEFT JOIN LATERAL (
    SELECT layouts.schemaname, layouts.tablename, layouts.columns
    FROM "public"."repl_layouts" AS layouts
    WHERE layouts.relid = queue.relid AND layouts.repl_key <= queue.repl_key
    ORDER BY layouts.repl_key DESC
    LIMIT 1
) AS layout ON true;
-- What a table's images list now: its live columns in attribute order, the positions of its primary key among them, and
-- whether a constraint on it, or one that refers to it, is checked only at commit.
CREATE OR REPLACE FUNCTION "public"."repl_current_layout"(relation oid, OUT columns jsonb, OUT key jsonb, OUT deferred boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $current_layout$
    WITH live AS (
        SELECT a.attnum, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull, a.attgenerated <> '' AS made,
               row_number() OVER (ORDER BY a.attnum) - 1 AS place
        FROM pg_attribute AS a
        WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
    )
    SELECT
        (SELECT jsonb_agg(jsonb_build_array(attname, type, attnotnull, made) ORDER BY attnum) FROM live),
        coalesce((
            SELECT jsonb_agg(live.place ORDER BY part.n)
            FROM pg_constraint AS c
            CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS part (attnum, n)
            JOIN live USING (attnum)
            WHERE c.conrelid = relation AND c.contype = 'p'), '[]'),
        EXISTS (
            SELECT FROM pg_constraint AS c
            WHERE (c.conrelid = relation OR c.confrelid = relation) AND c.condeferrable AND c.contype <> 't')
$current_layout$;
-- Records the columns of a watched table, and of its partitions, if they are not those recorded last. Returns how many
-- layouts were written. The key is drawn by the caller's transaction, which holds the table against writers.
CREATE OR REPLACE FUNCTION "public"."repl_record_layout"(root oid) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $record_layout$
    WITH now AS (
        SELECT tree.relid, namespace.nspname, class.relname, layout.*
        FROM (SELECT root AS relid UNION SELECT relid::oid FROM pg_partition_tree(root::regclass)) AS tree
        CROSS JOIN (SELECT relname, relnamespace FROM pg_class WHERE oid = root) AS class
        JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
        CROSS JOIN LATERAL "public"."repl_current_layout"(tree.relid) AS layout
    ), written AS (
        INSERT INTO "public"."repl_layouts" (repl_key, relid, schemaname, tablename, columns, key, deferred)
        SELECT nextval('"public"."repl_seq"'::regclass), now.relid, now.nspname, now.relname, now.columns, now.key, now.deferred
        FROM now
        LEFT JOIN LATERAL (
            SELECT * FROM "public"."repl_layouts" AS old WHERE old.relid = now.relid ORDER BY old.repl_key DESC LIMIT 1
        ) AS last ON true
        WHERE (last.schemaname, last.tablename, last.columns, last.key, last.deferred)
            IS DISTINCT FROM (now.nspname::text, now.relname::text, now.columns, now.key, now.deferred)
        RETURNING 1
    )
    SELECT count(*) FROM written
$record_layout$;
-- Runs after each ALTER: the columns of a watched table are recorded in the same transaction, before anybody can write
-- a row of the new shape. A failure here must not fail the user's statement (R9): the publisher compares the catalog
-- with the newest layout in each sweep, and stops rather than misread an image.
CREATE OR REPLACE FUNCTION "public"."repl_altered"() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $altered$
DECLARE
    root oid;
BEGIN
    FOR root IN
        SELECT DISTINCT watched.relid
        FROM pg_event_trigger_ddl_commands() AS command
        JOIN (
            SELECT DISTINCT class.oid AS relid, class.relname, namespace.nspname
            FROM "public"."repl_tables" AS entry
            JOIN pg_namespace AS namespace ON namespace.nspname = entry.schemaname
            JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = entry.tablename
        ) AS watched
          ON command.objid = watched.relid
          OR command.objid IN (SELECT relid FROM pg_partition_tree(watched.relid::regclass))
    LOOP
        PERFORM "public"."repl_record_layout"(root);
    END LOOP;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'the new columns could not be recorded for replication: %', SQLERRM;
END
$altered$;
CREATE EVENT TRIGGER "public_repl_altered" ON ddl_command_end WHEN TAG IN ('ALTER TABLE', 'CREATE TABLE')
EXECUTE FUNCTION "public"."repl_altered"();
-- Draws a transaction's last key at its commit, after every deferred check it may have waited in (R1).
CREATE OR REPLACE FUNCTION "public"."repl_mark_function"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $mark$
BEGIN
    INSERT INTO "public"."repl_queue" (repl_key, relid, db_action) VALUES (nextval('"public"."repl_seq"'::regclass), TG_RELID, 'C');
    RETURN NULL;
END
$mark$;
INSERT INTO repl_tables (schemaname, tablename, actions, repl_key, trigger_name) VALUES ('public', 't', 'IUD', nextval('repl_seq'), 'RI_z_repl_capture');
-- Generated for one watched table. SECURITY DEFINER and the pinned settings: the image must not depend on who writes,
-- nor on how that session prints dates, floats or bytes (R7).
CREATE OR REPLACE FUNCTION "public"."repl_capture_@relid@"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
SET timezone = 'UTC'
SET extra_float_digits = 1
SET bytea_output = 'hex'
SET lc_monetary = 'C'
AS $capture$
BEGIN
    CASE TG_OP
    WHEN 'UPDATE' THEN
        INSERT INTO "public"."repl_queue" (repl_key, relid, db_action, content, oldcontent)
        VALUES (nextval('"public"."repl_seq"'::regclass), TG_RELID, 'U', NEW::text, OLD::text);
    WHEN 'INSERT' THEN
        INSERT INTO "public"."repl_queue" (repl_key, relid, db_action, content)
        VALUES (nextval('"public"."repl_seq"'::regclass), TG_RELID, 'I', NEW::text);
    WHEN 'DELETE' THEN
        INSERT INTO "public"."repl_queue" (repl_key, relid, db_action, oldcontent)
        VALUES (nextval('"public"."repl_seq"'::regclass), TG_RELID, 'D', OLD::text);
    ELSE
        INSERT INTO "public"."repl_queue" (repl_key, relid, db_action)
        VALUES (nextval('"public"."repl_seq"'::regclass), TG_RELID, 'T');
    END CASE;
    
    RETURN NULL;
END
$capture$;
CREATE OR REPLACE TRIGGER "RI_z_repl_capture" AFTER INSERT OR UPDATE OR DELETE ON "public"."t" FOR EACH ROW EXECUTE FUNCTION "public"."repl_capture_@relid@"();
CREATE OR REPLACE TRIGGER "RI_z_repl_capture_t" AFTER TRUNCATE ON "public"."t" FOR EACH STATEMENT EXECUTE FUNCTION "public"."repl_capture_@relid@"();
-- ALWAYS: sessions with session_replication_role = replica change rows too (R9).
ALTER TABLE "public"."t" ENABLE ALWAYS TRIGGER "RI_z_repl_capture";
-- ALWAYS: sessions with session_replication_role = replica change rows too (R9).
ALTER TABLE "public"."t" ENABLE ALWAYS TRIGGER "RI_z_repl_capture_t";
SELECT repl_record_layout('t'::regclass);
UPDATE repl_tables SET status = 'OK';
INSERT INTO "public"."repl_current_tables" (relname) SELECT DISTINCT tablename FROM "public"."repl_tables" ON CONFLICT DO NOTHING;
