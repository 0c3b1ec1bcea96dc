-- Runs after each statement that may have changed what a table is. Watched tables among those that it touched, with the
-- tables above and below them, are compared with what is recorded, and tables that are wanted get their triggers: in the
-- same transaction, before anybody else can write a row. A failure must not fail the user's statement (R9): then nothing
-- is recorded but that, for the publisher's next look.
CREATE OR REPLACE FUNCTION {altered}() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $altered$
DECLARE
    touched record;
    begun   boolean := false;
    said    text;
BEGIN
    IF {noted}('installing'::text) <> '{{ }}' THEN
        RETURN;
    END IF;
    FOR touched IN
        WITH RECURSIVE command AS (
            SELECT classid, objid FROM pg_event_trigger_ddl_commands()
        ), named (relid) AS (
            SELECT objid FROM command WHERE classid = 'pg_class'::regclass
            UNION
            -- One of ours may have been replaced.
            SELECT tgrelid FROM pg_trigger JOIN command ON pg_trigger.oid = objid WHERE classid = 'pg_trigger'::regclass
            UNION
            SELECT confrelid FROM pg_constraint JOIN command ON conrelid = objid
            WHERE classid = 'pg_class'::regclass AND contype = 'f' AND condeferrable
            UNION
            SELECT class.oid FROM pg_class AS class JOIN command ON command.objid = class.relnamespace
            WHERE command.classid = 'pg_namespace'::regclass
            UNION
            SELECT entry.relid FROM {tables} AS entry
            WHERE EXISTS (SELECT FROM command WHERE classid = 'pg_type'::regclass)
            UNION
            -- A composite type, or a table whose rows are values elsewhere, and what has its columns from it.
            SELECT class.oid
            FROM command
            JOIN pg_class AS whole ON whole.oid = command.objid AND whole.reltype <> 0
            JOIN {current_tables} AS known ON true
            JOIN pg_class AS class ON class.oid = known.relid
            WHERE command.classid = 'pg_class'::regclass
              AND (class.reloftype = whole.reltype OR known.types ? whole.reltype::text)
        ), above (relid) AS (
            SELECT relid FROM named
            UNION
            SELECT inhparent FROM above JOIN pg_inherits ON inhrelid = relid
        ), below (relid) AS (
            SELECT relid FROM named
            UNION
            SELECT inhrelid FROM below JOIN pg_inherits ON inhparent = relid
        )
        SELECT family.relid, EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = family.relid) AS watched
        FROM (SELECT relid FROM above UNION SELECT relid FROM below) AS family
        JOIN pg_class AS class ON class.oid = family.relid AND class.relkind IN ('r', 'p') AND class.relpersistence <> 't'
        ORDER BY watched DESC, family.relid
    LOOP
        IF NOT begun THEN
            PERFORM {note}('installing'::text, '{{0}}'::oid[]);
            begun := true;
            GET DIAGNOSTICS said = PG_CONTEXT;
            said := {own_text}(current_query()::text, TG_TAG::text, said::text);
        END IF;
        BEGIN
            -- Perhaps no more: it may have become a partition of the one before.
            IF EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = touched.relid) THEN
                PERFORM {follow}(touched.relid::oid, said::text);
            ELSE
                PERFORM {adopt}(touched.relid::oid, said::text);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'a change of % could not be recorded for replication: %', touched.relid::regclass, SQLERRM;
            INSERT INTO {notes} (note, relid) VALUES ('unrecorded', touched.relid);
        END;
        BEGIN
            PERFORM {capture_again}(touched.relid::oid);
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'rows of % could not be recorded for replication: %', touched.relid::regclass, SQLERRM;
            UPDATE {tables} SET status = 'LOST' WHERE status = 'OK' AND relid = touched.relid;
        END;
    END LOOP;
    PERFORM {note}('installing'::text, '{{ }}'::oid[]), {note}('rewritten'::text, '{{ }}'::oid[]);
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'what changed could not be recorded for replication: %', SQLERRM;
END
$altered$
