-- Runs after each statement that dropped something: watched tables, columns and constraints of them, and attributes of their
-- types, that went with something else, or triggers of ours. What went first is told last:
-- a table that inherits goes before what it inherits from, on slaves, too.
CREATE OR REPLACE FUNCTION {dropped}() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $dropped$
DECLARE
    gone  record;
    begun boolean := false;
    said  text;
BEGIN
    IF {noted}('installing'::text) <> '{{ }}' THEN
        RETURN;
    END IF;
    FOR gone IN
        SELECT known.relid,
               bool_or(object.classid = 'pg_class'::regclass AND object.objid = known.relid AND object.objsubid = 0) AS whole
        FROM pg_event_trigger_dropped_objects() WITH ORDINALITY AS object
        JOIN {current_tables} AS known
            ON object.classid = 'pg_class'::regclass AND object.objid = ANY (known.partitions || known.relid)
            OR object.object_type = 'composite type column' AND EXISTS (
                SELECT FROM pg_class AS whole
                JOIN pg_class AS class ON class.oid = known.relid
                WHERE whole.oid = object.objid
                  AND (class.reloftype = whole.reltype OR known.types ? whole.reltype::text))
            OR object.object_type = 'table constraint'
            AND object.address_names[1:2] = ARRAY[known.schemaname, known.relname]::text[]
        GROUP BY known.relid
        ORDER BY whole, max(object.ordinality) DESC
    LOOP
        IF NOT begun THEN
            PERFORM {note}('installing'::text, '{{0}}'::oid[]);
            begun := true;
            GET DIAGNOSTICS said = PG_CONTEXT;
            said := {own_text}(current_query()::text, TG_TAG::text, said::text);
        END IF;
        BEGIN
            IF gone.whole THEN
                PERFORM {forget}(gone.relid::oid, said::text);
            ELSE
                PERFORM {follow}(gone.relid::oid, said::text);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'a drop could not be recorded for replication: %', SQLERRM;
            INSERT INTO {notes} (note, relid) VALUES ('unrecorded', gone.relid);
        END;
    END LOOP;
    PERFORM {note}('installing'::text, '{{ }}'::oid[]);
    IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() WHERE classid = 'pg_trigger'::regclass) THEN
        UPDATE {tables} SET status = 'LOST' WHERE status = 'OK' AND relid IN (SELECT {silenced}());
    END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'what was dropped could not be recorded for replication: %', SQLERRM;
END
$dropped$
