-- A change that is captured after others that followed it (R1): the triggers of a statement fire when it has changed all of
-- its rows, while a statement within it, of a trigger or a function of the application, is captured as soon as it ends. Runs
-- behind the change's own entry, and makes the last entry of each key, or of each image, the truth again:
-- with a key by what bears it now; without one by moving what followed behind (`took` counts no more).
-- Rows are printed under the settings of the trigger function that calls it.
-- `bearer` bears the key that the change gave a row, which is at `place`, `heir` the one that it took away; none: nobody does.
CREATE OR REPLACE FUNCTION {overtaken}(
    leaf oid, place tid, brought text, took text, keyed boolean, bearer_leaf oid, bearer tid, heir_leaf oid, heir tid)
RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET row_security = off
AS $overtaken$
DECLARE
    own   bigint := currval({seq_name}::regclass);
    begun bigint;
    moved tid;
    image text := brought;
    there boolean;
    row   text := 'SELECT textin(record_out(sluice_row.*)) FROM ONLY %s AS sluice_row WHERE {may_plan}(%L::oid) AND ctid = $1';
BEGIN
    IF keyed THEN
        IF brought IS NOT NULL AND (bearer_leaf, bearer) IS DISTINCT FROM (leaf, place) THEN
            IF bearer IS NOT NULL THEN
                EXECUTE format(row, bearer_leaf::regclass, bearer_leaf) INTO image USING bearer;
            END IF;
            INSERT INTO {queue} (repl_key, relid, db_action, content, oldcontent)
            SELECT nextval({seq_name}::regclass), coalesce(bearer_leaf, leaf), made.action, made.content, made.oldcontent
            FROM (VALUES
                ('D'::"char", NULL::text, brought, bearer IS NULL),
                ('U', image, brought, bearer_leaf = leaf),
                ('I', image, NULL, bearer_leaf <> leaf)) AS made (action, content, oldcontent, fits)
            WHERE made.fits;
        END IF;
        IF heir IS NOT NULL AND (heir_leaf, heir) IS DISTINCT FROM (bearer_leaf, bearer) THEN
            EXECUTE format(row, heir_leaf::regclass, heir_leaf) INTO image USING heir;
            INSERT INTO {queue} (repl_key, relid, db_action, content)
            VALUES (nextval({seq_name}::regclass), heir_leaf, 'I', image);
        END IF;
        RETURN;
    END IF;
    EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE {may_plan}(%L::oid) AND ctid = $1)', leaf::regclass, leaf)
    INTO there USING place;
    IF there THEN
        RETURN;
    END IF;
    -- Rows that look alike are one as good as another: the first change of such a row makes way, whichever it was. Not across
    -- a TRUNCATE, nor to another layout.
    SELECT max(bound.repl_key) INTO begun
    FROM (
        SELECT repl_key FROM {layouts} WHERE relid = leaf
        UNION ALL
        SELECT change.repl_key FROM {queue} AS change
        WHERE change.trans_key = pg_current_xact_id() AND left(change.db_action, 1) = 'T'
          AND (change.relid = leaf OR change.relid IN (SELECT relid FROM pg_partition_ancestors(leaf)))
    ) AS bound;
    LOOP
        SELECT change.ctid, change.repl_key, change.content INTO moved, begun, image FROM {queue} AS change
        WHERE change.trans_key = pg_current_xact_id() AND change.relid = leaf AND left(change.db_action, 1) IN ('U', 'D')
          AND change.oldcontent = image AND change.repl_key < own AND change.repl_key > begun
        ORDER BY change.repl_key LIMIT 1;
        EXIT WHEN NOT FOUND;
        UPDATE {queue} SET repl_key = nextval({seq_name}::regclass) WHERE ctid = moved;
        EXIT WHEN image IS NULL;
    END LOOP;
END
$overtaken$
