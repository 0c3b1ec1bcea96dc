CREATE SCHEMA repl;
CREATE FUNCTION repl.repl_adopt(relation oid, statement text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    entry  "repl"."repl_wanted";
    name   record;
    called text;
BEGIN
    SELECT namespace.nspname AS schemaname, class.relname INTO name
    FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE class.oid = relation AND class.relkind IN ('r', 'p') AND class.relpersistence <> 't'
      AND NOT (class.relpersistence = 'u' AND coalesce((SELECT by_log FROM "repl"."repl_settings"), false));
    SELECT * INTO entry FROM "repl"."repl_wants"(name.schemaname::text, name.relname::text);
    IF entry IS NULL
        OR "repl"."repl_table_definition"(relation::oid) IS NULL
        OR entry.wildcard AND NOT (SELECT detection FROM "repl"."repl_settings")
        OR entry.wildcard AND NOT EXISTS (SELECT FROM (-- Tables that a wildcard may take: ordinary and partitioned ones with columns; no partitions, which belong to their
SELECT class.oid AS relid, namespace.nspname AS schemaname, class.relname
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE class.relkind IN ('r', 'p')
  AND class.relpersistence <> 't'
  AND NOT class.relispartition
  AND class.relname NOT IN ('sluice_position', 'sluice_loaded', 'sluice_ranges', 'sluice_indexes',
                            'sluice_references')
  AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = class.oid AND a.attnum > 0 AND NOT a.attisdropped)
  AND NOT EXISTS (
    SELECT FROM pg_depend AS d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = class.oid AND d.objsubid = 0 AND d.deptype = 'e')
  AND NOT EXISTS (
    SELECT
    FROM pg_proc AS made
    CROSS JOIN LATERAL left(made.proname, -length('needs_prot')) AS prefix
    WHERE made.pronamespace = class.relnamespace
      AND made.proname = prefix || 'needs_prot'
      AND starts_with(class.relname, prefix)
      AND EXISTS (SELECT FROM pg_class AS seq
                  WHERE seq.relnamespace = class.relnamespace AND seq.relname = prefix || 'seq' AND seq.relkind = 'S'))
) AS living WHERE living.relid = relation)
        OR EXISTS (SELECT FROM pg_partition_ancestors(relation) AS above (relid) JOIN "repl"."repl_tables" AS whole USING (relid))
    THEN
        RETURN;
    END IF;
    called := coalesce(entry.trigger_name, 'RI_z_repl_capture_' || relation);
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = relation AND tgname = called) THEN
        RAISE EXCEPTION 'there is a trigger % already', called;
    END IF;
    DELETE FROM "repl"."repl_tables" AS listed
    WHERE (listed.schemaname, listed.tablename, listed.status) = (name.schemaname, name.relname, 'WANTED');
    INSERT INTO "repl"."repl_tables" (schemaname, tablename, actions, repl_key, trigger_name, debug, relid, old_images)
    VALUES (name.schemaname, name.relname, entry.actions, nextval('"repl"."repl_seq"'::regclass), called, entry.debug, relation,
            entry.old_images);
    PERFORM "repl"."repl_capture_table"(relation::oid, entry.actions::text, called::text, entry.debug::integer);
    INSERT INTO "repl"."repl_current_tables" (relid, schemaname, relname, definition, partitions, clones, types)
    VALUES (relation, name.schemaname, name.relname, "repl"."repl_table_definition"(relation::oid), "repl"."repl_partitions"(relation::oid),
            "repl"."repl_clones"(relation::oid), "repl"."repl_types_reached"(relation::oid));
    UPDATE "repl"."repl_tables" SET status = 'OK' WHERE relid = relation;
    PERFORM "repl"."repl_command"(
        'N'::"char", relation::oid, NULL::jsonb,
        "repl"."repl_described"(relation::oid, NULL::jsonb, "repl"."repl_table_definition"(relation::oid)::jsonb, false)::jsonb, statement::text);
    IF (SELECT initial_content FROM "repl"."repl_settings") THEN
        PERFORM "repl"."repl_capture_rows"(relation::oid, 'I'::"char", relation::oid);
    END IF;
END
$$;
CREATE FUNCTION repl.repl_altered() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    touched record;
    begun   boolean := false;
    said    text;
BEGIN
    IF "repl"."repl_noted"('installing'::text) <> '{ }' THEN
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
            SELECT entry.relid FROM "repl"."repl_tables" AS entry
            WHERE EXISTS (SELECT FROM command WHERE classid = 'pg_type'::regclass)
            UNION
            -- A composite type, or a table whose rows are values elsewhere, and what has its columns from it.
            SELECT class.oid
            FROM command
            JOIN pg_class AS whole ON whole.oid = command.objid AND whole.reltype <> 0
            JOIN "repl"."repl_current_tables" AS known ON true
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
        SELECT family.relid, EXISTS (SELECT FROM "repl"."repl_tables" AS entry WHERE entry.relid = family.relid) AS watched
        FROM (SELECT relid FROM above UNION SELECT relid FROM below) AS family
        JOIN pg_class AS class ON class.oid = family.relid AND class.relkind IN ('r', 'p') AND class.relpersistence <> 't'
        ORDER BY watched DESC, family.relid
    LOOP
        IF NOT begun THEN
            PERFORM "repl"."repl_note"('installing'::text, '{0}'::oid[]);
            begun := true;
            GET DIAGNOSTICS said = PG_CONTEXT;
            said := "repl"."repl_own_text"(current_query()::text, TG_TAG::text, said::text);
        END IF;
        BEGIN
            -- Perhaps no more: it may have become a partition of the one before.
            IF EXISTS (SELECT FROM "repl"."repl_tables" AS entry WHERE entry.relid = touched.relid) THEN
                PERFORM "repl"."repl_follow"(touched.relid::oid, said::text);
            ELSE
                PERFORM "repl"."repl_adopt"(touched.relid::oid, said::text);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'a change of % could not be recorded for replication: %', touched.relid::regclass, SQLERRM;
            INSERT INTO "repl"."repl_notes" (note, relid) VALUES ('unrecorded', touched.relid);
        END;
        BEGIN
            PERFORM "repl"."repl_capture_again"(touched.relid::oid);
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'rows of % could not be recorded for replication: %', touched.relid::regclass, SQLERRM;
            UPDATE "repl"."repl_tables" SET status = 'LOST' WHERE status = 'OK' AND relid = touched.relid;
        END;
    END LOOP;
    PERFORM "repl"."repl_note"('installing'::text, '{ }'::oid[]), "repl"."repl_note"('rewritten'::text, '{ }'::oid[]);
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'what changed could not be recorded for replication: %', SQLERRM;
END
$$;
CREATE FUNCTION repl.repl_capture_@t@() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    AS $$
<<captured>>
DECLARE
    content    pg_catalog.text;
    oldcontent pg_catalog.text;
    rekeyed    pg_catalog.bool;
    is_long    pg_catalog.bool;
    nothing    pg_catalog.bool; -- NULL, as an expression, would be looked at anew in each transaction.
BEGIN
    IF TG_OP OPERATOR(pg_catalog.=) 'UPDATE' THEN
        BEGIN
            rekeyed := NOT pg_catalog.record_image_eq(ROW(OLD.id), ROW(NEW.id));
        EXCEPTION WHEN OTHERS THEN
        END;
    END IF;
    IF pg_catalog.pg_column_size(NEW) OPERATOR(pg_catalog.>) 60000
        OR pg_catalog.pg_column_size(OLD) OPERATOR(pg_catalog.>) 60000
    THEN
        is_long := true;
    ELSE
        -- Apart from the INSERT: in a large statement how to print a row is then looked up once, not for each row. And not
        -- NEW::text, which would run a cast that the table's owner made. What an event lacks, OLD or NEW, is NULL.
        content := pg_catalog.textin(pg_catalog.record_out(NEW));
        oldcontent := pg_catalog.textin(pg_catalog.record_out(OLD));
    END IF;
    IF is_long OR pg_catalog.octet_length(content) OPERATOR(pg_catalog.>) 1000000
        OR pg_catalog.octet_length(oldcontent) OPERATOR(pg_catalog.>) 1000000
    THEN
        SELECT made.content, made.oldcontent INTO captured.content, captured.oldcontent
        FROM "repl"."repl_long_images"('@t@'::pg_catalog.oid, NEW::pg_catalog.record, (OLD)::pg_catalog.record, (NOT rekeyed)::pg_catalog.bool) AS made;
        IF content IS NULL AND oldcontent IS NULL THEN
            INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action)
            VALUES (pg_catalog.nextval('"repl"."repl_seq"'::pg_catalog.regclass), TG_RELID, 'LONG');
            RETURN nothing;
        END IF;
    END IF;
    INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action, content, oldcontent)
    VALUES (pg_catalog.nextval('"repl"."repl_seq"'::pg_catalog.regclass), TG_RELID, TG_OP, content, oldcontent);
    IF NEW.xmax OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid OR content IS NULL AND oldcontent IS NULL
        OR rekeyed AND content IS NOT NULL AND oldcontent IS NOT NULL
        OR content IS NULL AND (
            pg_catalog.pg_stat_get_xact_tuples_inserted(TG_RELID)
                OPERATOR(pg_catalog.+) pg_catalog.pg_stat_get_xact_tuples_updated(TG_RELID) OPERATOR(pg_catalog.>) 0
            OR pg_catalog.current_setting('track_counts') OPERATOR(pg_catalog.<>) 'on')
    THEN
        DECLARE
            again pg_catalog.bool := coalesce(NEW.xmax OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid, false);
            freed pg_catalog.bool := oldcontent IS NOT NULL AND coalesce(
                content IS NULL OR rekeyed, false);
        BEGIN
            IF TG_OP OPERATOR(pg_catalog.=) 'TRUNCATE' THEN
                BEGIN
                    PERFORM "repl"."repl_capture_rows"(entry.relid::pg_catalog.oid, 'I'::pg_catalog."char", entry.relid::pg_catalog.oid) FROM "repl"."repl_tables" AS entry
                    WHERE entry.relid OPERATOR(pg_catalog.=) TG_RELID
                      AND pg_catalog.strpos(coalesce(entry.actions, 'IUD'), 'I') OPERATOR(pg_catalog.>) 0;
                EXCEPTION WHEN OTHERS THEN
                    RAISE WARNING 'rows of % could not be recorded for replication: %',
                        TG_RELID::pg_catalog.regclass, SQLERRM;
                    UPDATE "repl"."repl_tables" SET status = 'LOST'
                    WHERE status OPERATOR(pg_catalog.=) 'OK' AND relid OPERATOR(pg_catalog.=) TG_RELID;
                END;
            END IF;
            IF (again OR freed) AND (TG_RELID OPERATOR(pg_catalog.=) '@t@'::pg_catalog.oid
                OR TG_RELID OPERATOR(pg_catalog.=) ANY ("repl"."repl_partitions"('@t@'::pg_catalog.oid))) THEN
                <<late>>
                DECLARE
                    own         pg_catalog.tid := NEW.ctid;
                    command     pg_catalog.cid := CASE WHEN pg_catalog.age(OLD.xmin) OPERATOR(pg_catalog.>) 0 THEN OLD.cmax
                                                       WHEN NOT again THEN NEW.cmin END;
                    bearer_leaf pg_catalog.oid;
                    bearer      pg_catalog.tid;
                    heir_leaf   pg_catalog.oid;
                    heir        pg_catalog.tid;
                    keyed       pg_catalog.bool := true;
                BEGIN
                    -- Who owns the table may have given its name to something of his, unseen.
                    keyed := CASE WHEN true THEN pg_catalog.to_regclass('public.t')::pg_catalog.oid OPERATOR(pg_catalog.=) '@t@'::pg_catalog.oid END;
                    IF keyed AND again THEN
                        keyed := ARRAY(
                            SELECT a.attname::pg_catalog.text
                            FROM pg_catalog.pg_constraint AS c
                            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.conrelid
                                AND a.attnum OPERATOR(pg_catalog.=) ANY (c.conkey)
                            WHERE c.conrelid OPERATOR(pg_catalog.=) '@t@'::pg_catalog.oid
                              AND c.contype OPERATOR(pg_catalog.=) 'p'
                            ORDER BY a.attnum) OPERATOR(pg_catalog.=) '{id}'::pg_catalog.text[];
                    END IF;
                    IF keyed THEN
                        keyed := pg_catalog.pg_typeof(OLD.id)::pg_catalog.oid OPERATOR(pg_catalog.=) '23'::pg_catalog.oid;
                    END IF;
                    IF keyed THEN
                        IF pg_catalog.row_security_active('@t@'::pg_catalog.oid) THEN
                            RAISE insufficient_privilege USING MESSAGE = 'its rows are hidden';
                        END IF;
                        IF content IS NOT NULL THEN
                            SELECT there.tableoid, there.ctid INTO bearer_leaf, bearer FROM ONLY public.t AS there
                            WHERE "repl"."repl_may_plan"('@t@'::pg_catalog.oid) AND there.id::pg_catalog.int4 OPERATOR(pg_catalog.=) NEW.id::pg_catalog.int4;
                        END IF;
                        IF freed THEN
                            SELECT there.tableoid, there.ctid INTO heir_leaf, heir FROM ONLY public.t AS there
                            WHERE "repl"."repl_may_plan"('@t@'::pg_catalog.oid) AND there.id::pg_catalog.int4 OPERATOR(pg_catalog.=) OLD.id::pg_catalog.int4
                                AND (there.cmin OPERATOR(pg_catalog.=) late.command) IS NOT TRUE;
                        END IF;
                    END IF;
                    IF again OR heir IS NOT NULL THEN
                        PERFORM "repl"."repl_overtaken"(
                            TG_RELID::pg_catalog.oid, own::pg_catalog.tid, content::pg_catalog.text,
                            oldcontent::pg_catalog.text, keyed::pg_catalog.bool, bearer_leaf::pg_catalog.oid,
                            bearer::pg_catalog.tid, heir_leaf::pg_catalog.oid, heir::pg_catalog.tid);
                    END IF;
                EXCEPTION WHEN OTHERS THEN
                    -- A column may be called otherwise, unseen, until the next look. Most keys of rows that went are nobody's.
                    IF again OR SQLSTATE OPERATOR(pg_catalog.<>) '42703' THEN
                        RAISE WARNING 'changes of % could not be put in order for replication: %',
                            TG_RELID::pg_catalog.regclass, SQLERRM;
                        UPDATE "repl"."repl_tables" SET status = 'LOST'
                        WHERE status OPERATOR(pg_catalog.=) 'OK' AND relid OPERATOR(pg_catalog.=) '@t@'::pg_catalog.oid;
                    END IF;
                END;
            END IF;
        END;
    END IF;
    RETURN nothing;
END
$$;
CREATE FUNCTION repl.repl_capture_again(relation oid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF "repl"."repl_noted"('rewritten'::text) && (
        SELECT "repl"."repl_partitions"(relation::oid) || relation
        FROM "repl"."repl_tables" AS entry
        JOIN "repl"."repl_current_tables" AS known USING (relid)
        WHERE entry.relid = relation AND coalesce(entry.actions, 'IUD') LIKE '%U%')
    THEN
        INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action) VALUES (nextval('"repl"."repl_seq"'::regclass), relation, 'T');
        PERFORM "repl"."repl_capture_rows"(relation::oid, 'I'::"char", relation::oid);
    END IF;
END
$$;
CREATE FUNCTION repl.repl_capture_commit(relation oid, trigger_name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    late   oid[] := ARRAY(SELECT "repl"."repl_checked_late"(relation::oid));
    called text := 'W_' || trigger_name;
    mark   regprocedure := '"repl"."repl_mark_function"()';
    target regclass;
BEGIN
    -- The server's log has transactions in the order of their commits.
    IF coalesce((SELECT by_log FROM "repl"."repl_settings"), false) THEN
        RETURN;
    END IF;
    IF relation = ANY (late) THEN
        late := ARRAY[relation];
        IF EXISTS (SELECT FROM "repl"."repl_code_of_others"(relation::oid) WHERE is_key) THEN
            RAISE WARNING 'no trigger of % can be made: its partition key calls code of others', relation::regclass;
            UPDATE "repl"."repl_tables" AS entry SET status = 'LOST' WHERE entry.status = 'OK' AND entry.relid = relation;
            RETURN;
        END IF;
    END IF;
    FOR target IN
        SELECT tgrelid FROM pg_trigger
        WHERE late <> '{ }' AND tgrelid <> ALL (late) AND tgrelid IN (SELECT "repl"."repl_tree"(relation::oid))
          AND tgname = called AND tgparentid = 0 AND (tgfoid <> mark OR late = ARRAY[relation])
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', called, target);
    END LOOP;
    FOREACH target IN ARRAY late LOOP
        IF NOT EXISTS (
            SELECT FROM pg_trigger AS there
            WHERE tgrelid = target AND tgname = called AND tgfoid = mark AND "repl"."repl_fires"(there::pg_trigger, 29::integer))
        THEN
            PERFORM "repl"."repl_put_trigger"(
                target::regclass, called::text, 'AFTER INSERT OR UPDATE OR DELETE'::text, 'ROW'::text, mark::regprocedure);
        END IF;
    END LOOP;
END
$$;
CREATE FUNCTION repl.repl_capture_function(relation oid, debug integer) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    function text := format('%I.%I', 'repl', 'repl_capture_' || relation);
    seen     boolean := EXISTS (SELECT FROM pg_event_trigger WHERE evtfoid = to_regprocedure('"repl"."repl_altered"()') AND evtenabled <> 'D');
    every    boolean := NOT seen OR 'search_path' IN (SELECT "repl"."repl_printed_under"(relation::oid));
    pinned   text;
    keys     text;
    by_key   boolean;
    long     text;
BEGIN
    SELECT string_agg(format('SET %s = %s', setting, value), ' ') INTO pinned
    FROM (VALUES
        ('search_path', 'pg_catalog, pg_temp'),
        -- In ISO no date of the server's own types is printed by the order of day and month, and each word costs.
        ('datestyle', CASE WHEN every THEN '''ISO, YMD''' ELSE '''ISO''' END),
        ('intervalstyle', '''postgres'''),
        ('timezone', '''UTC'''),
        ('extra_float_digits', '1'),
        ('bytea_output', '''hex'''),
        ('lc_monetary', '''C''')) AS pin (setting, value)
    WHERE every OR setting IN (SELECT "repl"."repl_printed_under"(relation::oid));
    SELECT format('pg_catalog.record_image_eq(ROW(%s), ROW(%s))',
                  string_agg(format('OLD.%I', a.attname), ', ' ORDER BY a.attnum),
                  string_agg(format('NEW.%I', a.attname), ', ' ORDER BY a.attnum)),
           seen AND EXISTS (SELECT FROM "repl"."repl_tables" AS entry WHERE entry.relid = relation AND entry.old_images = 'key')
    INTO keys, by_key
    FROM pg_constraint AS c
    JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
    WHERE c.conrelid = relation AND c.contype = 'p' AND NOT EXISTS (SELECT FROM "repl"."repl_checked_late"(relation::oid))
    GROUP BY c.conrelid;
    by_key := coalesce(by_key, false);
    long := format($long$
        SELECT made.content, made.oldcontent INTO captured.content, captured.oldcontent
        FROM "repl"."repl_long_images"('%s'::pg_catalog.oid, NEW::pg_catalog.record, (%s)::pg_catalog.record, (NOT rekeyed)::pg_catalog.bool) AS made;
        IF content IS NULL AND oldcontent IS NULL THEN
            INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action)
            VALUES (pg_catalog.nextval('"repl"."repl_seq"'::pg_catalog.regclass), TG_RELID, 'LONG');
            RETURN nothing;
        END IF;$long$, relation, CASE WHEN by_key THEN 'CASE WHEN rekeyed IS NOT FALSE THEN OLD END' ELSE 'OLD' END);
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER %s AS %L', function, pinned, $body$
<<captured>>
DECLARE
    content    pg_catalog.text;
    oldcontent pg_catalog.text;
    rekeyed    pg_catalog.bool;
    is_long    pg_catalog.bool;
    nothing    pg_catalog.bool; -- NULL, as an expression, would be looked at anew in each transaction.
BEGIN$body$ || CASE WHEN keys IS NULL THEN '' ELSE format($key$
    IF TG_OP OPERATOR(pg_catalog.=) 'UPDATE' THEN
        BEGIN
            rekeyed := NOT %s;
        EXCEPTION WHEN OTHERS THEN
        END;
    END IF;$key$, keys) END || $body$
    IF pg_catalog.pg_column_size(NEW) OPERATOR(pg_catalog.>) 60000
        OR $body$ || CASE WHEN by_key THEN 'rekeyed IS NOT FALSE AND ' ELSE '' END || $body$pg_catalog.pg_column_size(OLD) OPERATOR(pg_catalog.>) 60000
    THEN
        is_long := true;
    ELSE
        -- Apart from the INSERT: in a large statement how to print a row is then looked up once, not for each row. And not
        -- NEW::text, which would run a cast that the table's owner made. What an event lacks, OLD or NEW, is NULL.
        content := pg_catalog.textin(pg_catalog.record_out(NEW));
        $body$ || CASE WHEN by_key THEN $key$IF rekeyed IS NOT FALSE THEN
            oldcontent := pg_catalog.textin(pg_catalog.record_out(OLD));
        END IF;$key$ ELSE $full$oldcontent := pg_catalog.textin(pg_catalog.record_out(OLD));$full$ END || $body$
    END IF;
    IF is_long OR pg_catalog.octet_length(content) OPERATOR(pg_catalog.>) 1000000
        OR pg_catalog.octet_length(oldcontent) OPERATOR(pg_catalog.>) 1000000
    THEN$body$ || long || $body$
    END IF;
    INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action, content, oldcontent)
    VALUES (pg_catalog.nextval('"repl"."repl_seq"'::pg_catalog.regclass), TG_RELID, TG_OP, content, oldcontent);$body$
        || "repl"."repl_capture_late"(relation::oid, seen::boolean)
        || CASE WHEN debug > 0 THEN $debug$
    INSERT INTO "repl"."repl_debug_table" (repl_key, line)
    VALUES (pg_catalog.nextval('"repl"."repl_seq"'::pg_catalog.regclass),
            pg_catalog.format('%s on %s.%s by transaction %s',
                              TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME, pg_catalog.pg_current_xact_id()));$debug$
        ELSE '' END || $end$
    RETURN nothing;
END
$end$);
    -- Also where the DDL of somebody else has it made, and the event trigger's function belongs to another role.
    EXECUTE format('ALTER FUNCTION %s() OWNER TO %s', function,
                   (SELECT relowner::regrole FROM pg_class WHERE oid = '"repl"."repl_tables"'::regclass));
    RETURN function;
END
$_$;
CREATE FUNCTION repl.repl_capture_late(relation oid, seen boolean) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET join_collapse_limit TO '1'
    AS $_$
    SELECT $body$
    IF NEW.xmax OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid OR content IS NULL AND oldcontent IS NULL$body$ || CASE WHEN bears IS NULL THEN '' ELSE $body$
        OR rekeyed AND content IS NOT NULL AND oldcontent IS NOT NULL
        OR content IS NULL AND $body$ || brought END || $body$
    THEN
        DECLARE
            again pg_catalog.bool := coalesce(NEW.xmax OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid, false);
            freed pg_catalog.bool := $body$ || CASE WHEN bears IS NULL THEN 'false' ELSE $body$oldcontent IS NOT NULL AND coalesce(
                content IS NULL OR rekeyed, false)$body$ END || $body$;
        BEGIN
            IF TG_OP OPERATOR(pg_catalog.=) 'TRUNCATE' THEN
                BEGIN
                    PERFORM "repl"."repl_capture_rows"(entry.relid::pg_catalog.oid, 'I'::pg_catalog."char", entry.relid::pg_catalog.oid) FROM "repl"."repl_tables" AS entry
                    WHERE entry.relid OPERATOR(pg_catalog.=) TG_RELID
                      AND pg_catalog.strpos(coalesce(entry.actions, 'IUD'), 'I') OPERATOR(pg_catalog.>) 0;
                EXCEPTION WHEN OTHERS THEN
                    RAISE WARNING 'rows of % could not be recorded for replication: %',
                        TG_RELID::pg_catalog.regclass, SQLERRM;
                    UPDATE "repl"."repl_tables" SET status = 'LOST'
                    WHERE status OPERATOR(pg_catalog.=) 'OK' AND relid OPERATOR(pg_catalog.=) TG_RELID;
                END;
            END IF;
            IF (again OR freed) AND (TG_RELID OPERATOR(pg_catalog.=) $body$ || format($body$'%1$s'::pg_catalog.oid
                OR TG_RELID OPERATOR(pg_catalog.=) ANY ("repl"."repl_partitions"('%1$s'::pg_catalog.oid))) THEN
                <<late>>
                DECLARE
                    own         pg_catalog.tid := NEW.ctid;
                    command     pg_catalog.cid := CASE WHEN pg_catalog.age(OLD.xmin) OPERATOR(pg_catalog.>) 0 THEN OLD.cmax
                                                       WHEN NOT again THEN NEW.cmin END;
                    bearer_leaf pg_catalog.oid;
                    bearer      pg_catalog.tid;
                    heir_leaf   pg_catalog.oid;
                    heir        pg_catalog.tid;
                    keyed       pg_catalog.bool := $body$, relation) || CASE WHEN bears IS NULL THEN 'false' ELSE 'true' END || $body$;
                BEGIN$body$ || CASE WHEN bears IS NULL THEN '' ELSE format($body$
                    -- Who owns the table may have given its name to something of his, unseen.
                    keyed := CASE WHEN %10$s THEN pg_catalog.to_regclass(%1$L)::pg_catalog.oid OPERATOR(pg_catalog.=) '%2$s'::pg_catalog.oid END;
                    IF keyed%7$s THEN
                        keyed := ARRAY(
                            SELECT a.attname::pg_catalog.text
                            FROM pg_catalog.pg_constraint AS c
                            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.conrelid
                                AND a.attnum OPERATOR(pg_catalog.=) ANY (c.conkey)
                            WHERE c.conrelid OPERATOR(pg_catalog.=) '%2$s'::pg_catalog.oid
                              AND c.contype OPERATOR(pg_catalog.=) 'p'
                            ORDER BY a.attnum) OPERATOR(pg_catalog.=) %3$L::pg_catalog.text[];
                    END IF;
                    IF keyed THEN
                        keyed := %9$s;
                    END IF;
                    IF keyed THEN
                        IF pg_catalog.row_security_active('%2$s'::pg_catalog.oid) THEN
                            RAISE insufficient_privilege USING MESSAGE = 'its rows are hidden';
                        END IF;
                        IF content IS NOT NULL THEN
                            SELECT there.tableoid, there.ctid INTO bearer_leaf, bearer FROM %4$s AS there
                            WHERE "repl"."repl_may_plan"('%2$s'::pg_catalog.oid) AND %5$s;
                        END IF;
                        IF freed THEN
                            SELECT there.tableoid, there.ctid INTO heir_leaf, heir FROM %4$s AS there
                            WHERE "repl"."repl_may_plan"('%2$s'::pg_catalog.oid) AND %6$s
                                AND (there.cmin OPERATOR(pg_catalog.=) late.command) IS NOT TRUE%8$s;
                        END IF;
                    END IF;$body$, name, relation, names, root, bears, bore, CASE WHEN seen THEN ' AND again' ELSE '' END, moved, typed, ours) END || format($body$
                    IF again OR heir IS NOT NULL THEN
                        PERFORM "repl"."repl_overtaken"(
                            TG_RELID::pg_catalog.oid, own::pg_catalog.tid, content::pg_catalog.text,
                            oldcontent::pg_catalog.text, keyed::pg_catalog.bool, bearer_leaf::pg_catalog.oid,
                            bearer::pg_catalog.tid, heir_leaf::pg_catalog.oid, heir::pg_catalog.tid);
                    END IF;
                EXCEPTION WHEN OTHERS THEN
                    -- A column may be called otherwise, unseen, until the next look. Most keys of rows that went are nobody's.
                    IF again OR SQLSTATE OPERATOR(pg_catalog.<>) '42703' THEN
                        RAISE WARNING 'changes of %% could not be put in order for replication: %%',
                            TG_RELID::pg_catalog.regclass, SQLERRM;
                        UPDATE "repl"."repl_tables" SET status = 'LOST'
                        WHERE status OPERATOR(pg_catalog.=) 'OK' AND relid OPERATOR(pg_catalog.=) '%s'::pg_catalog.oid;
                    END IF;
                END;
            END IF;
        END;
    END IF;$body$, relation)
    FROM (
        SELECT class.oid::regclass::text AS name,
               CASE class.relkind WHEN 'p' THEN $moved$
                                AND (late.command IS NOT NULL OR captured.content IS NOT NULL OR there.tableoid OPERATOR(pg_catalog.=) OLD.tableoid)$moved$
               ELSE '' END AS moved,
               -- Heap tables are those that are known to count.
               CASE WHEN EXISTS (
                   SELECT FROM "repl"."repl_tree"(relation::oid) AS tree (relid)
                   JOIN pg_class AS member ON member.oid = tree.relid
                   JOIN pg_am AS method ON method.oid = member.relam AND method.amname <> 'heap')
               THEN 'true' ELSE $brought$(
            pg_catalog.pg_stat_get_xact_tuples_inserted(TG_RELID)
                OPERATOR(pg_catalog.+) pg_catalog.pg_stat_get_xact_tuples_updated(TG_RELID) OPERATOR(pg_catalog.>) 0
            OR pg_catalog.current_setting('track_counts') OPERATOR(pg_catalog.<>) 'on')$brought$ END AS brought,
               CASE class.relkind WHEN 'r' THEN 'ONLY ' ELSE '' END || class.oid::regclass AS root,
               -- A statement may name, and hold, one partition alone.
               CASE class.relkind WHEN 'r' THEN 'true' ELSE format($held$"repl"."repl_held"('%s'::pg_catalog.oid)$held$, class.oid) END AS ours
        FROM pg_class AS class WHERE class.oid = relation
    ) AS named
    CROSS JOIN LATERAL (
        SELECT string_agg(format('there.%1$I%2$s OPERATOR(%3$s) NEW.%1$I%2$s', part.name, part.as_type, part.equal), ' AND ') AS bears,
               string_agg(format('there.%1$I%2$s OPERATOR(%3$s) OLD.%1$I%2$s', part.name, part.as_type, part.equal), ' AND ') AS bore,
               string_agg(format('pg_catalog.pg_typeof(OLD.%I)::pg_catalog.oid OPERATOR(pg_catalog.=) ''%s''::pg_catalog.oid',
                                 part.name, part.type), ' AND ') AS typed,
               array_agg(part.name::text ORDER BY part.attnum) AS names
        FROM (
            SELECT a.attname AS name, a.attnum, a.atttypid AS type, coalesce(known.equal, 'pg_catalog.=') AS equal, coalesce(known.as_type, '') AS as_type
            FROM pg_constraint AS c
            CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS key (attnum, n)
            JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = key.attnum
            LEFT JOIN LATERAL (
                SELECT format('%I.%s', namespace.nspname, operator.oprname) AS equal,
                       CASE WHEN input.typtype <> 'p' THEN format('::%I.%I', input_schema.nspname, input.typname) END AS as_type
                FROM pg_index AS i
                JOIN pg_opclass AS opclass ON opclass.oid = i.indclass[key.n - 1]
                JOIN pg_am AS method ON method.oid = opclass.opcmethod AND method.amname = 'btree'
                JOIN pg_amop AS member ON member.amopfamily = opclass.opcfamily AND member.amopstrategy = 3
                    AND member.amoplefttype = opclass.opcintype AND member.amoprighttype = opclass.opcintype
                JOIN pg_operator AS operator ON operator.oid = member.amopopr
                JOIN pg_namespace AS namespace ON namespace.oid = operator.oprnamespace
                JOIN pg_type AS input ON input.oid = opclass.opcintype
                JOIN pg_namespace AS input_schema ON input_schema.oid = input.typnamespace
                -- A polymorphic type is none that both sides could be cast to.
                WHERE i.indexrelid = c.conindid AND (input.typtype <> 'p' OR operator.oprnamespace = 'pg_catalog'::regnamespace)
            ) AS known ON true
            WHERE c.conrelid = relation AND c.contype = 'p'
              AND NOT EXISTS (SELECT FROM "repl"."repl_checked_late"(relation::oid))) AS part
    ) AS key
$_$;
CREATE FUNCTION repl.repl_capture_log(relation oid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    member regclass;
    whole  boolean;
BEGIN
    IF NOT coalesce((SELECT by_log FROM "repl"."repl_settings"), false) THEN
        RETURN;
    END IF;
    FOR member IN
        SELECT class.oid FROM pg_class AS class
        WHERE class.oid = ANY ("repl"."repl_partitions"(relation::oid) || relation) AND class.relkind = 'r' AND class.relreplident <> 'f'
    LOOP
        INSERT INTO "repl"."repl_identities" (relid, identity, index)
        SELECT class.oid, class.relreplident,
               (SELECT indexrelid FROM pg_index WHERE indrelid = class.oid AND indisreplident)
        FROM pg_class AS class
        WHERE class.oid = member
        ON CONFLICT (relid) DO NOTHING;
        EXECUTE format('ALTER TABLE ONLY %s REPLICA IDENTITY FULL', member);
    END LOOP;
    SELECT listed.prqual IS NULL AND listed.prattrs IS NULL INTO whole
    FROM pg_publication_rel AS listed
    JOIN pg_publication AS publication ON publication.oid = listed.prpubid
    WHERE publication.pubname = 'repl.repl_rows' AND listed.prrelid = relation;
    -- Somebody may have left rows or columns of it out.
    IF NOT whole THEN
        EXECUTE format('ALTER PUBLICATION %I DROP TABLE ONLY %s', 'repl.repl_rows', relation::regclass);
    END IF;
    IF whole IS NOT TRUE THEN
        EXECUTE format('ALTER PUBLICATION %I ADD TABLE ONLY %s', 'repl.repl_rows', relation::regclass);
    END IF;
END
$$;
CREATE FUNCTION repl.repl_capture_partitions(relation oid, trigger_name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT at.relid::regclass AS target, trigger_name || at.suffix AS name, at.moment
        FROM (
            SELECT leaf, '_t', 'BEFORE' FROM unnest("repl"."repl_partitions"(relation::oid)) AS leaf
            UNION ALL
            SELECT class.oid, ends.suffix, ends.moment
            FROM pg_class AS class
            CROSS JOIN (VALUES ('_b', 'BEFORE'), ('_e', 'AFTER')) AS ends (suffix, moment)
            WHERE class.oid = relation AND class.relkind = 'p'
        ) AS at (relid, suffix, moment)
        WHERE NOT EXISTS (
            SELECT FROM pg_trigger AS there
            WHERE tgrelid = at.relid AND tgname = trigger_name || at.suffix AND tgfoid = '"repl"."repl_truncating"()'::regprocedure
              AND "repl"."repl_fires"(there::pg_trigger, (CASE at.moment WHEN 'BEFORE' THEN 34 ELSE 32 END)::integer))
    LOOP
        PERFORM "repl"."repl_put_trigger"(
            made.target::regclass, made.name::text, (made.moment || ' TRUNCATE')::text, 'STATEMENT'::text,
            '"repl"."repl_truncating"()'::regprocedure);
    END LOOP;
END
$$;
CREATE FUNCTION repl.repl_capture_rows(relation oid, action "char", root oid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'postgres'
    SET "TimeZone" TO 'UTC'
    SET extra_float_digits TO '1'
    SET bytea_output TO 'hex'
    SET lc_monetary TO 'C'
    SET standard_conforming_strings TO 'on'
    SET quote_all_identifiers TO 'off'
    SET row_security TO 'off'
    AS $_$
DECLARE
    leaf   oid;
    side   text := CASE action WHEN 'D' THEN 'oldcontent' ELSE 'content' END;
BEGIN
    FOREACH leaf IN ARRAY "repl"."repl_partitions"(relation::oid) || ARRAY(SELECT oid FROM pg_class WHERE oid = relation AND relkind = 'r')
    LOOP
        BEGIN
            IF NOT "repl"."repl_held"(leaf::oid) THEN
                RAISE SQLSTATE 'SL360' USING MESSAGE = 'its name is that of something else by now';
            END IF;
            CONTINUE WHEN pg_relation_size(leaf) = 0;
            EXECUTE $insert$INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action, $insert$ || side || $insert$)
                SELECT nextval('"repl"."repl_seq"'::regclass), $1, $2, textin(record_out(sluice_row.*)) FROM ONLY $insert$
                || format('%s AS sluice_row WHERE "repl"."repl_may_plan"(%L::oid)', leaf::regclass, leaf) USING leaf, action;
        EXCEPTION WHEN SQLSTATE 'SL360' THEN
            RAISE WARNING 'rows of % could not be recorded for replication: %', leaf::regclass, SQLERRM;
            UPDATE "repl"."repl_tables" AS entry SET status = 'LOST' WHERE entry.status = 'OK' AND entry.relid = root;
        END;
    END LOOP;
END
$_$;
CREATE FUNCTION repl.repl_capture_table(relation oid, actions text, trigger_name text, debug integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    function regprocedure;
    events   text := array_to_string(ARRAY[
        CASE WHEN strpos(actions, 'I') > 0 THEN 'INSERT' END,
        CASE WHEN strpos(actions, 'U') > 0 THEN 'UPDATE' END,
        CASE WHEN strpos(actions, 'D') > 0 THEN 'DELETE' END], ' OR ');
    found    record;
BEGIN
    SELECT * INTO found FROM "repl"."repl_code_of_others"(relation::oid) WHERE is_key LIMIT 1;
    IF found IS NOT NULL THEN
        RAISE EXCEPTION '% calls % of %, and no trigger can be made without running it', found.object, found.function, found.owner;
    END IF;
    PERFORM "repl"."repl_record_layout"(relation::oid);
    IF events = '' THEN
        RETURN;
    END IF;
    function := "repl"."repl_capture_function"(relation::oid, debug::integer) || '()';
    IF coalesce((SELECT by_log FROM "repl"."repl_settings"), false) THEN
        PERFORM "repl"."repl_capture_log"(relation::oid);
    ELSE
        PERFORM "repl"."repl_put_trigger"(
            relation::regclass, trigger_name::text, ('AFTER ' || events)::text, 'ROW'::text, function::regprocedure);
    END IF;
    IF strpos(actions, 'D') > 0 THEN
        PERFORM "repl"."repl_put_trigger"(
            relation::regclass, (trigger_name || '_t')::text, 'AFTER TRUNCATE'::text, 'STATEMENT'::text,
            function::regprocedure);
        PERFORM "repl"."repl_capture_partitions"(relation::oid, trigger_name::text);
    END IF;
    PERFORM "repl"."repl_capture_commit"(relation::oid, trigger_name::text);
    UPDATE "repl"."repl_current_tables" AS known SET clones = "repl"."repl_clones"(relation::oid) WHERE known.relid = relation;
END
$$;
CREATE FUNCTION repl.repl_checked_late(root oid) RETURNS SETOF oid
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT member
    FROM unnest("repl"."repl_partitions"(root::oid) || root) AS member
    WHERE member IN (SELECT unnest(ARRAY[conrelid, confrelid]) FROM pg_constraint WHERE condeferrable AND contype <> 't')
$$;
CREATE FUNCTION repl.repl_clones(relation oid) RETURNS oid[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT ARRAY(
        SELECT made.oid
        FROM "repl"."repl_tables" AS entry
        JOIN pg_trigger AS made ON made.tgname = entry.trigger_name AND made.tgparentid <> 0
        JOIN pg_proc AS function ON function.oid = made.tgfoid AND function.proname = 'repl_capture_' || relation
        JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace AND namespace.nspname = 'repl'
        WHERE entry.relid = relation AND made.tgrelid = ANY ("repl"."repl_partitions"(relation::oid))
        ORDER BY made.oid)
$$;
CREATE FUNCTION repl.repl_code_of_others(relation oid, OUT object text, OUT function text, OUT owner text, OUT is_key boolean) RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT CASE WHEN class.relkind IN ('r', 'p') THEN 'the partition key of ' ELSE '' END
               || pg_describe_object(found.class, found.object, 0),
           found.function::regprocedure::text, pg_get_userbyid(found.owner), coalesce(class.relkind IN ('r', 'p'), false)
    FROM (-- Functions of others that run as soon as somebody plans a query of these tables, with the rights of who does: the planner works
SELECT part.class, part.object, function.oid AS function, function.proowner AS owner
FROM (SELECT "repl"."repl_tree"(relation::oid) UNION SELECT relid::oid FROM pg_partition_ancestors(relation)) AS member (relid)
CROSS JOIN LATERAL (
    SELECT 'pg_class'::regclass, indexrelid FROM pg_index
    WHERE indrelid = member.relid AND (indexprs IS NOT NULL OR indpred IS NOT NULL)
    UNION ALL
    SELECT 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext WHERE stxrelid = member.relid
    UNION ALL
    SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = member.relid AND contype IN ('c', 'x')
    UNION ALL
    SELECT 'pg_class'::regclass, member.relid
) AS part (class, object)
JOIN pg_depend AS named ON named.classid = part.class AND named.objid = part.object
    AND named.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
LEFT JOIN pg_operator AS operator ON operator.oid = named.refobjid AND named.refclassid = 'pg_operator'::regclass
JOIN pg_proc AS function ON function.oid = coalesce(operator.oprcode::oid, named.refobjid)
WHERE NOT pg_has_role(function.proowner, (SELECT relowner FROM pg_class WHERE oid = '"repl"."repl_tables"'::regclass), 'MEMBER')
  AND NOT EXISTS (
    SELECT FROM pg_roles AS trusted
    WHERE trusted.rolname::text = ANY ((SELECT trusted_code FROM "repl"."repl_settings")::text[]) AND pg_has_role(function.proowner, trusted.oid, 'MEMBER'))
) AS found
    LEFT JOIN pg_class AS class ON found.class = 'pg_class'::regclass AND class.oid = found.object
$$;
CREATE FUNCTION repl.repl_needs_prot(value text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (value ~ ']]>|[--\ufffe\uffff]'::text) THEN 2 WHEN (value ~ '[<&]'::text) THEN 1 ELSE 0 END;
CREATE FUNCTION repl.repl_col2xml(name text, type text, value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (('<col name="'::text || CASE WHEN (name ~ '[--\ufffe\uffff]'::text) THEN (translate(encode(convert_to(name, 'UTF8'::name), 'base64'::text), '
'::text, ''::text) || '" encoded="name"'::text) ELSE (replace(replace(replace(replace(replace(replace(replace(name, '&'::text, '&amp;'::text), '<'::text, '&lt;'::text), '>'::text, '&gt;'::text), '"'::text, '&quot;'::text), '
'::text, '&#10;'::text), '
'::text, '&#13;'::text), '	'::text, '&#9;'::text) || '"'::text) END) || CASE WHEN (value IS NULL) THEN ' type="null"/>'::text WHEN (type = 'bytea'::text) THEN ((' encoding="base64">'::text || translate(encode(decode(substr(value, 3), 'hex'::text), 'base64'::text), '
'::text, ''::text)) || '</col>'::text) WHEN ((type = 'boolean'::text) AND (value = ANY (ARRAY['t'::text, 'f'::text]))) THEN CASE value WHEN 't'::text THEN '>true</col>'::text ELSE '>false</col>'::text END ELSE CASE repl.repl_needs_prot(value) WHEN 2 THEN ((' type="text" encoding="base64">'::text || translate(encode(convert_to(value, 'UTF8'::name), 'base64'::text), '
'::text, ''::text)) || '</col>'::text) WHEN 1 THEN (('><![CDATA['::text || value) || ']]></col>'::text) ELSE (('>'::text || value) || '</col>'::text) END END);
CREATE FUNCTION repl.repl_col2xml(columns jsonb, image text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT string_agg(repl.repl_col2xml((field.col ->> 0), (field.col ->> 1), CASE WHEN (field.raw = ''::text) THEN NULL::text WHEN (field.raw ~~ '"%'::text) THEN replace(replace(substr(field.raw, 2, (length(field.raw) - 2)), '""'::text, '"'::text), '\\'::text, '\'::text) ELSE field.raw END), ''::text ORDER BY field.n) AS string_agg FROM (SELECT (repl_col2xml.columns -> ((split.n - 1))::integer) AS col, split.n, split.match[1] AS raw FROM regexp_matches((substr(repl_col2xml.image, 2, (length(repl_col2xml.image) - 2)) || ','::text), '("(?:[^"]|"")*"|[^",]*),'::text, 'g'::text) WITH ORDINALITY split(match, n)) field WHERE (repl_col2xml.image IS NOT NULL));
CREATE FUNCTION repl.repl_command(action "char", relation oid, before jsonb, after jsonb, statement text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action, content)
    SELECT nextval('"repl"."repl_seq"'::regclass), relation, action, jsonb_strip_nulls(jsonb_build_object(
        'before', before,
        'after', after,
        'statement', CASE WHEN statement !~* 'password' THEN left(statement, 10000) END))::text
    FROM "repl"."repl_settings"
    WHERE detection
$$;
CREATE FUNCTION repl.repl_current_layout(relation oid, OUT columns jsonb, OUT key jsonb, OUT deferred boolean) RETURNS record
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH live AS (
        SELECT a.attnum, row_number() OVER (ORDER BY a.attnum) - 1 AS place
        FROM pg_attribute AS a
        WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
    )
    SELECT
        "repl"."repl_listed"(relation::oid),
        coalesce((
            SELECT jsonb_agg(live.place ORDER BY part.n)
            FROM pg_constraint AS c
            CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS part (attnum, n)
            JOIN live USING (attnum)
            WHERE c.conrelid = relation AND c.contype = 'p'), '[]'),
        EXISTS (
            SELECT FROM pg_constraint AS c
            WHERE (c.conrelid = relation OR c.confrelid = relation) AND c.condeferrable AND c.contype <> 't')
$$;
CREATE FUNCTION repl.repl_described(relation oid, before jsonb, after jsonb, rewritten boolean) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'postgres'
    SET "TimeZone" TO 'UTC'
    SET extra_float_digits TO '1'
    SET bytea_output TO 'hex'
    SET lc_monetary TO 'C'
    SET standard_conforming_strings TO 'on'
    SET quote_all_identifiers TO 'off'
    AS $_$
    WITH said AS (
        SELECT new.said, new.place, a.atttypid AS type,
               (made.it::text[])[1] AS filled,
               old.said ->> 'type' IS DISTINCT FROM new.said ->> 'type' AS other
        FROM jsonb_array_elements(after -> 'columns') WITH ORDINALITY AS new (said, place)
        LEFT JOIN jsonb_array_elements(before -> 'columns') AS old (said) ON old.said -> 'number' = new.said -> 'number'
        LEFT JOIN pg_attribute AS a ON a.attrelid = relation AND a.attnum = (new.said ->> 'number')::int
        -- Of a partitioned table its partitions have it. An array of one value, which is in quotes only where it has the
        -- delimiter of its type, for a box no comma.
        LEFT JOIN LATERAL (
            SELECT CASE WHEN part.attmissingval::text LIKE '{"%' THEN part.attmissingval::text
                        ELSE regexp_replace(part.attmissingval::text, '^\{(.*)\}$', '{"\1"}') END AS it
            FROM pg_attribute AS part
            WHERE part.attrelid = ANY ("repl"."repl_partitions"(relation::oid) || relation) AND part.attname = a.attname AND part.atthasmissing
            LIMIT 1
        ) AS made ON before IS NOT NULL AND old.said IS NULL
    )
    SELECT jsonb_strip_nulls(after || jsonb_build_object(
        'rewritten', nullif(rewritten, false),
        'columns', (SELECT jsonb_agg(said.said || jsonb_build_object('filled', said.filled) ORDER BY said.place) FROM said),
        'types', (SELECT jsonb_agg(to_jsonb(type)) FROM (-- The types made by users that columns need, down to what these are made of: name, extension, parts, labels of an enum,
WITH RECURSIVE needed (type) AS (
    SELECT unnest(ARRAY(SELECT said.type FROM said WHERE said.other)::oid[])
    UNION
    SELECT part.type
    FROM needed
    JOIN pg_type AS whole ON whole.oid = needed.type
    CROSS JOIN LATERAL (
        SELECT whole.typbasetype WHERE whole.typtype = 'd'
        UNION ALL SELECT whole.typelem WHERE whole.typtype = 'b' AND whole.typoutput = 'array_out'::regproc
        UNION ALL SELECT rngsubtype FROM pg_range WHERE rngtypid = whole.oid
        UNION ALL SELECT rngtypid FROM pg_range WHERE rngmultitypid = whole.oid
        UNION ALL SELECT atttypid FROM pg_attribute
            WHERE whole.typtype = 'c' AND attrelid = whole.typrelid AND attnum > 0 AND NOT attisdropped
    ) AS part (type)
    WHERE whole.oid >= 16384
), edges AS (
    SELECT whole.oid AS whole,
           CASE WHEN part.typtype = 'b' AND part.typoutput = 'array_out'::regproc THEN part.typelem ELSE part.oid END AS part
    FROM pg_type AS whole
    JOIN pg_depend AS d ON d.refclassid = 'pg_type'::regclass
        AND (d.classid = 'pg_type'::regclass AND d.objid = whole.oid
             OR d.classid = 'pg_class'::regclass AND d.objid = whole.typrelid AND whole.typtype = 'c')
    JOIN pg_type AS part ON part.oid = d.refobjid
    WHERE whole.oid IN (SELECT type FROM needed) AND part.oid IN (SELECT type FROM needed)
)
SELECT
    type.oid::bigint AS oid,
    namespace.nspname AS schema,
    type.typname AS name,
    CASE type.typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END AS kind,
    (SELECT extname FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
     WHERE d.classid = 'pg_type'::regclass AND d.objid = type.oid AND d.deptype = 'e') AS extension,
    ARRAY(SELECT DISTINCT part::bigint FROM edges WHERE whole = type.oid AND part <> whole) AS parts,
    ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = type.oid ORDER BY enumsortorder) AS labels,
    CASE
        WHEN type.typtype = 'e' THEN concat('AS ENUM (', (
            SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = type.oid),
            ')')
        WHEN type.typtype = 'd' THEN concat('AS ',
            format_type(type.typbasetype, type.typtypmod),
            CASE WHEN type.typcollation <> base.typcollation THEN ' COLLATE ' || type.typcollation::regcollation END,
            ' DEFAULT ' || pg_get_expr(type.typdefaultbin, 0),
            CASE WHEN type.typnotnull THEN ' NOT NULL' END,
            (SELECT string_agg(' CONSTRAINT ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid), '' ORDER BY conname)
             FROM pg_constraint WHERE contypid = type.oid AND contype = 'c'))
        WHEN type.typtype = 'c' AND class.relkind = 'c' THEN concat('AS (', (
            SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
            FROM pg_attribute WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped), ')')
        WHEN type.typtype = 'r' AND range.rngcanonical = 0 THEN concat('AS RANGE (SUBTYPE = ',
            format_type(range.rngsubtype, NULL), ', MULTIRANGE_TYPE_NAME = ', format_type(range.rngmultitypid, NULL), ')')
    END AS definition
FROM needed
JOIN pg_type AS type ON type.oid = needed.type
JOIN pg_namespace AS namespace ON namespace.oid = type.typnamespace
LEFT JOIN pg_type AS base ON base.oid = type.typbasetype
LEFT JOIN pg_class AS class ON class.oid = type.typrelid
LEFT JOIN pg_range AS range ON range.rngtypid = type.oid
WHERE type.oid >= 16384 AND type.typtype <> 'm' AND NOT (type.typtype = 'b' AND type.typoutput = 'array_out'::regproc)
ORDER BY type.oid
) AS type),
        'indexes', (SELECT jsonb_agg(jsonb_build_array(name, is_unique, definition) ORDER BY name)
                    FROM (-- Indexes of a table that no constraint made: name, whether unique, and the definition from USING on.
SELECT index_class.relname AS name, i.indisunique AS is_unique,
       substr(whole.text, strpos(whole.text, on_table.text) + length(on_table.text)) AS definition
FROM pg_index AS i
JOIN pg_class AS index_class ON index_class.oid = i.indexrelid
JOIN pg_class AS class ON class.oid = i.indrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
CROSS JOIN LATERAL (SELECT pg_get_indexdef(i.indexrelid) AS text) AS whole
CROSS JOIN LATERAL (
    SELECT concat(CASE WHEN class.relkind = 'p' THEN ' ON ONLY ' ELSE ' ON ' END,
                  CASE WHEN namespace.oid = pg_my_temp_schema() THEN 'pg_temp' ELSE quote_ident(namespace.nspname) END,
                  '.', quote_ident(class.relname), ' ') AS text
) AS on_table
WHERE i.indrelid = relation
  AND i.indisvalid
  AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x'))
ORDER BY index_class.relname
) AS index WHERE before IS NULL)))
$_$;
CREATE FUNCTION repl.repl_dropped() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    gone  record;
    begun boolean := false;
    said  text;
BEGIN
    IF "repl"."repl_noted"('installing'::text) <> '{ }' THEN
        RETURN;
    END IF;
    FOR gone IN
        SELECT known.relid,
               bool_or(object.classid = 'pg_class'::regclass AND object.objid = known.relid AND object.objsubid = 0) AS whole
        FROM pg_event_trigger_dropped_objects() WITH ORDINALITY AS object
        JOIN "repl"."repl_current_tables" AS known
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
            PERFORM "repl"."repl_note"('installing'::text, '{0}'::oid[]);
            begun := true;
            GET DIAGNOSTICS said = PG_CONTEXT;
            said := "repl"."repl_own_text"(current_query()::text, TG_TAG::text, said::text);
        END IF;
        BEGIN
            IF gone.whole THEN
                PERFORM "repl"."repl_forget"(gone.relid::oid, said::text);
            ELSE
                PERFORM "repl"."repl_follow"(gone.relid::oid, said::text);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'a drop could not be recorded for replication: %', SQLERRM;
            INSERT INTO "repl"."repl_notes" (note, relid) VALUES ('unrecorded', gone.relid);
        END;
    END LOOP;
    PERFORM "repl"."repl_note"('installing'::text, '{ }'::oid[]);
    IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() WHERE classid = 'pg_trigger'::regclass) THEN
        UPDATE "repl"."repl_tables" SET status = 'LOST' WHERE status = 'OK' AND relid IN (SELECT "repl"."repl_silenced"());
    END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'what was dropped could not be recorded for replication: %', SQLERRM;
END
$$;
CREATE FUNCTION repl.repl_dropper() RETURNS event_trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM set_config('sluice.dropper', current_user, true);
END
$$;
CREATE FUNCTION repl.repl_dropping() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    said  text;
    leaf  record;
    began bigint := nextval('"repl"."repl_seq"'::regclass);
BEGIN
    GET DIAGNOSTICS said = PG_CONTEXT;
    said := (SELECT string_agg(part[1], E'\n')
             FROM regexp_matches(current_query() || E'\n' || said, 'drop[[:space:]]+table[^;]*', 'gi') AS part);
    FOR leaf IN
        SELECT DISTINCT below.oid::regclass AS relid, known.relid AS root
        FROM "repl"."repl_current_tables" AS known
        JOIN "repl"."repl_tables" AS entry ON entry.relid = known.relid AND coalesce(entry.actions, 'IUD') LIKE '%D%'
        CROSS JOIN LATERAL "repl"."repl_tree"(known.relid::oid) AS tree (relid)
        JOIN pg_class AS named ON named.oid = tree.relid AND named.oid <> known.relid
        JOIN pg_namespace AS namespace ON namespace.oid = named.relnamespace
        CROSS JOIN LATERAL "repl"."repl_tree"(named.oid::oid) AS under (relid)
        JOIN pg_class AS below ON below.oid = under.relid AND below.relkind = 'r'
        WHERE known.partitions <> '{ }'
          AND (pg_has_role(current_setting('sluice.dropper', true), named.relowner, 'USAGE')
               OR pg_has_role(current_setting('sluice.dropper', true), namespace.nspowner, 'USAGE'))
          AND said ~* ('(^|[^[:alnum:]_$])' || regexp_replace(named.relname, '([^[:alnum:]])', E'\\\\\\1', 'g')
                       || '($|[^[:alnum:]_$])')
        ORDER BY 1
    LOOP
        EXECUTE format('LOCK TABLE ONLY %s, %s IN ACCESS EXCLUSIVE MODE', leaf.root::regclass, leaf.relid);
        INSERT INTO "repl"."repl_notes" (note, relid, repl_key) VALUES ('dropping', leaf.relid, began);
        PERFORM "repl"."repl_capture_rows"(leaf.relid::oid, 'D'::"char", leaf.root::oid);
    END LOOP;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'rows of a partition could not be recorded for replication: %', SQLERRM;
END
$_$;
CREATE FUNCTION repl.repl_expect_own_code(relation oid) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    said text := (
        SELECT format('%s calls %s of %s', found.object, found.function, found.owner)
        FROM "repl"."repl_code_of_others"(relation::oid) AS found
        LIMIT 1);
BEGIN
    IF said IS NULL AND current_setting('transaction_isolation') <> 'read committed'
        AND (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
    THEN
        said := (
            SELECT format('%s belongs to %I, and this transaction does not see what is made meanwhile', class.oid::regclass, owner.rolname)
            FROM pg_class AS class
            JOIN pg_roles AS owner ON owner.oid = class.relowner
            WHERE class.oid IN (SELECT "repl"."repl_tree"(relation::oid) UNION SELECT relid FROM pg_partition_ancestors(relation))
              AND NOT pg_has_role(owner.oid, (SELECT relowner FROM pg_class WHERE oid = '"repl"."repl_tables"'::regclass), 'MEMBER')
              AND NOT EXISTS (
                SELECT FROM "repl"."repl_settings" CROSS JOIN unnest(trusted_code) AS trusted (name)
                JOIN pg_roles AS role ON role.rolname = trusted.name
                WHERE pg_has_role(owner.oid, role.oid, 'MEMBER'))
            LIMIT 1);
    END IF;
    IF said IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'SL360', MESSAGE = 'code of others could run: ' || said;
    END IF;
    RETURN true;
END
$$;
CREATE FUNCTION repl.repl_fires(made pg_trigger, type integer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    -- 67: for each row, before, instead of.
    SELECT made.tgenabled = 'A' AND made.tgqual IS NULL AND made.tgattr::text = '' AND made.tgnargs = 0
       AND made.tgoldtable IS NULL AND made.tgnewtable IS NULL
       AND made.tgtype::integer & 67 = type & 67 AND made.tgtype::integer & type = type
$$;
CREATE FUNCTION repl.repl_first_image(leaf oid, root oid, before jsonb, after jsonb, OUT first bigint, OUT certain boolean) RETURNS record
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    WITH image AS (
        SELECT repl_key, (
            SELECT count(*)
            FROM regexp_matches(substr(text, 2, length(text) - 2) || ',', '("(?:[^"]|"")*"|[^",]*),', 'g')) AS width
        FROM "repl"."repl_queue"
        CROSS JOIN LATERAL (SELECT coalesce(content, oldcontent) AS text) AS written
        WHERE relid = leaf AND db_action::"char" IN ('I', 'U', 'D')
    ), shape AS (
        SELECT
            old = new AS same,
            old_numbers @> new_numbers OR new_numbers @> old_numbers AS one_way,
            NOT EXISTS (SELECT FROM "repl"."repl_layouts" WHERE relid = leaf) AS fresh,
            jsonb_array_length(before -> 'columns') AS old_width,
            jsonb_array_length(after -> 'columns') AS new_width,
            EXISTS (
                SELECT FROM pg_attribute AS a
                WHERE a.attrelid = root AND a.attisdropped
                  AND a.attnum > (SELECT max((c ->> 'number')::int) FROM jsonb_array_elements(before -> 'columns') AS c))
                AS hidden,
            before -> 'key' = after -> 'key' AS same_key,
            EXISTS (
                SELECT FROM jsonb_array_elements(before -> 'columns') AS c
                WHERE before -> 'key' @> (c -> 'name') AND NOT EXISTS (
                    SELECT FROM jsonb_array_elements(after -> 'columns') AS d
                    WHERE (d -> 'number', d -> 'name') = (c -> 'number', c -> 'name'))) AS renamed,
            EXISTS (SELECT FROM "repl"."repl_queue" WHERE relid = leaf AND db_action::"char" = 'U' AND oldcontent IS NULL) AS without
        FROM (
            SELECT
                (SELECT coalesce(jsonb_agg(jsonb_build_array(c -> 'number', c -> 'type')), '[]')
                 FROM jsonb_array_elements(before -> 'columns') AS c) AS old,
                (SELECT coalesce(jsonb_agg(jsonb_build_array(c -> 'number', c -> 'type')), '[]')
                 FROM jsonb_array_elements(after -> 'columns') AS c) AS new,
                jsonb_path_query_array(before, '$.columns[*].number') AS old_numbers,
                jsonb_path_query_array(after, '$.columns[*].number') AS new_numbers
        ) AS pairs
    ), cut AS (
        SELECT CASE WHEN shape.fresh THEN (SELECT min(repl_key) FROM image)
                    WHEN NOT shape.same THEN (SELECT min(repl_key) FROM image WHERE width = new_width) END AS first
        FROM shape
    )
    SELECT cut.first,
           NOT (shape.without AND (shape.renamed OR NOT (shape.same OR shape.same_key)))
           AND (shape.same
                OR NOT EXISTS (SELECT FROM image)
                OR shape.one_way AND NOT shape.hidden AND (shape.fresh OR shape.old_width <> shape.new_width) AND NOT EXISTS (
                    SELECT FROM image
                    WHERE width <> CASE WHEN repl_key >= cut.first THEN shape.new_width ELSE shape.old_width END))
    FROM shape CROSS JOIN cut
$_$;
CREATE FUNCTION repl.repl_follow(relation oid, statement text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    known    "repl"."repl_current_tables";
    entry    "repl"."repl_tables";
    now      jsonb := "repl"."repl_table_definition"(relation::oid);
    parts    oid[] := "repl"."repl_partitions"(relation::oid);
    actions  text;
    again    boolean;
    reached  jsonb := "repl"."repl_types_reached"(relation::oid);
    altered  text;
    unread   oid[];
BEGIN
    SELECT * INTO known FROM "repl"."repl_current_tables" AS was WHERE was.relid = relation;
    IF NOT FOUND THEN
        -- It was added to the registry, and is not taken up yet.
        RETURN;
    END IF;
    SELECT * INTO STRICT entry FROM "repl"."repl_tables" AS registered WHERE registered.relid = relation;
    IF now IS NULL THEN
        PERFORM "repl"."repl_release_table"(relation::oid, entry.trigger_name::text), "repl"."repl_forget"(relation::oid, statement::text);
        RETURN;
    END IF;
    actions := coalesce(entry.actions, 'IUD');
    again := actions LIKE '%U%' AND (parts || relation) && "repl"."repl_noted"('rewritten'::text);
    -- Partitions that were dropped, and whose rows nobody had read before, stay among those that are known: the publisher's next
    -- look finds them missing, and sends the whole table. All else of the table is recorded meanwhile.
    unread := ARRAY(
        SELECT leaf FROM unnest(known.partitions) AS leaf
        WHERE actions LIKE '%D%' AND leaf <> ALL (parts || "repl"."repl_noted"('dropping'::text))
          AND NOT EXISTS (SELECT FROM pg_class WHERE oid = leaf));
    IF unread <> '{ }' THEN
        RAISE WARNING 'the rows of a dropped partition of % were not read before; all rows of that table are sent again',
            relation::regclass;
        INSERT INTO "repl"."repl_notes" (note, relid) VALUES ('unrecorded', relation);
    END IF;
    PERFORM "repl"."repl_partitions_left"(
        relation::oid, ARRAY(SELECT unnest(known.partitions) EXCEPT SELECT unnest(parts || unread))::oid[], statement::text);
    PERFORM "repl"."repl_partitions_join"(
        relation::oid, ARRAY(SELECT unnest(parts) EXCEPT SELECT unnest(known.partitions))::oid[], statement::text);
    IF "repl"."repl_record_layout"(relation::oid) > 0 AND actions <> '' THEN
        PERFORM "repl"."repl_capture_function"(relation::oid, entry.debug::integer);
        PERFORM "repl"."repl_capture_commit"(relation::oid, entry.trigger_name::text);
    END IF;
    IF actions <> '' THEN
        PERFORM "repl"."repl_capture_log"(relation::oid);
    END IF;
    IF known.definition <> now THEN
        -- The name may still be that of an entry whose table was renamed or dropped as well: its own turn comes.
        UPDATE "repl"."repl_tables" AS other SET tablename = format('(%s)', other.relid)
        WHERE (other.schemaname, other.tablename) = (now ->> 'schema', now ->> 'table') AND other.relid <> relation;
        DELETE FROM "repl"."repl_tables" AS other
        WHERE (other.schemaname, other.tablename, other.status) = (now ->> 'schema', now ->> 'table', 'WANTED');
        UPDATE "repl"."repl_tables" AS registered SET schemaname = now ->> 'schema', tablename = now ->> 'table'
        WHERE registered.relid = relation;
        PERFORM "repl"."repl_list_wanted"(known.schemaname::text, known.relname::text);
        PERFORM "repl"."repl_command"(
            'A'::"char", relation::oid, known.definition::jsonb,
            "repl"."repl_described"(relation::oid, known.definition::jsonb, now::jsonb, again::boolean)::jsonb, statement::text);
    END IF;
    UPDATE "repl"."repl_current_tables" AS was
    SET schemaname = now ->> 'schema', relname = now ->> 'table', definition = now,
        partitions = ARRAY(SELECT unnest(parts || unread) ORDER BY 1),
        clones = "repl"."repl_clones"(relation::oid), types = reached
    WHERE was.relid = relation;
    IF actions LIKE '%I%' THEN
        PERFORM "repl"."repl_capture_rows"(leaf::oid, 'I'::"char", relation::oid) FROM unnest(parts) AS leaf WHERE leaf <> ALL (known.partitions);
    END IF;
    IF actions LIKE '%D%' THEN
        PERFORM "repl"."repl_capture_partitions"(relation::oid, entry.trigger_name::text);
    END IF;
    IF actions <> '' AND "repl"."repl_noted"('issued'::text) = '{ }' THEN
        altered := "repl"."repl_types_altered"(known.types::jsonb, reached::jsonb);
    END IF;
    IF altered IS NOT NULL THEN
        RAISE WARNING 'rows of % became others with the type %, which no replication carries', relation::regclass, altered;
    END IF;
    UPDATE "repl"."repl_tables" AS registered SET status = 'LOST'
    WHERE registered.relid = relation AND registered.status = 'OK'
      AND (altered IS NOT NULL OR registered.relid IN (SELECT "repl"."repl_silenced"()));
END
$$;
CREATE FUNCTION repl.repl_forget(relation oid, statement text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    known    "repl"."repl_current_tables";
    function text := format('%I.%I', 'repl', 'repl_capture_' || relation);
BEGIN
    DELETE FROM "repl"."repl_current_tables" AS was WHERE was.relid = relation RETURNING * INTO known;
    PERFORM "repl"."repl_command"('X'::"char", relation::oid, known.definition::jsonb, NULL::jsonb, statement::text)
    WHERE known.relid IS NOT NULL;
    DELETE FROM "repl"."repl_tables" AS entry WHERE entry.relid = relation;
    PERFORM "repl"."repl_list_wanted"(known.schemaname::text, known.relname::text);
    IF to_regprocedure(function || '()') IS NOT NULL THEN
        EXECUTE format('CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS %L', function, 'BEGIN RETURN NULL; END');
    END IF;
END
$$;
CREATE FUNCTION repl.repl_guard() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'changes in % that are not published yet would be lost', TG_RELID::regclass
    USING HINT = 'Nothing was changed. Publishing takes them out. To give some up all the same: '
        'BEGIN; SET LOCAL sluice.purge = on; DELETE ...; COMMIT; then run initial_update for all slaves.';
END
$$;
CREATE FUNCTION repl.repl_held(relation oid) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    name text := relation::regclass;
BEGIN
    EXECUTE 'LOCK TABLE ' || name || ' IN ACCESS SHARE MODE';
    RETURN to_regclass(name) IS NOT DISTINCT FROM relation::regclass;
EXCEPTION WHEN undefined_table OR invalid_schema_name OR wrong_object_type THEN
    RETURN false;
END
$$;
CREATE FUNCTION repl.repl_increment() RETURNS bigint
    LANGUAGE sql
    AS $$
    SELECT pg_catalog.nextval('"repl"."repl_seq"'::pg_catalog.regclass)
$$;
CREATE FUNCTION repl.repl_kept() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF "repl"."repl_noted"('dropping'::text) <> '{ }' THEN
        IF EXISTS (SELECT FROM "repl"."repl_log" WHERE phase IS DISTINCT FROM 'over') THEN
            INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action, content)
            SELECT nextval('"repl"."repl_seq"'::regclass), change.relid, 'I', change.oldcontent
            FROM "repl"."repl_queue" AS change
            JOIN "repl"."repl_notes" AS noted USING (trans_key, relid)
            JOIN pg_class AS class ON class.oid = noted.relid
            WHERE noted.trans_key = pg_current_xact_id() AND noted.note = 'dropping' AND change.repl_key > noted.repl_key;
        ELSE
            PERFORM set_config('sluice.purge', 'on', true);
            DELETE FROM "repl"."repl_queue" AS change
            USING "repl"."repl_notes" AS noted
            JOIN pg_class AS class ON class.oid = noted.relid
            WHERE noted.trans_key = pg_current_xact_id() AND noted.note = 'dropping'
              AND change.trans_key = noted.trans_key AND change.repl_key > noted.repl_key AND change.relid = noted.relid;
            PERFORM set_config('sluice.purge', '', true);
        END IF;
        PERFORM "repl"."repl_note"('dropping'::text, '{ }'::oid[]);
    END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'rows of a partition could not be recorded for replication: %', SQLERRM;
END
$$;
CREATE FUNCTION repl.repl_list_wanted(schema text, name text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    INSERT INTO "repl"."repl_tables" (schemaname, tablename, actions, status, repl_key, trigger_name, debug, old_images)
    SELECT entry.schemaname, entry.tablename, entry.actions, 'WANTED', nextval('"repl"."repl_seq"'::regclass),
           coalesce(entry.trigger_name, 'RI_z_repl_capture_'), entry.debug, entry.old_images
    FROM "repl"."repl_wanted" AS entry
    WHERE (entry.schemaname, entry.tablename) = (schema, name) AND NOT (entry.wildcard OR entry.excluded)
    ON CONFLICT DO NOTHING
$$;
CREATE FUNCTION repl.repl_listed(relation oid) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET quote_all_identifiers TO 'off'
    AS $$
    SELECT jsonb_agg(
        jsonb_build_array(attname, format_type(atttypid, atttypmod), attnotnull AND NOT EXISTS (
            SELECT FROM pg_constraint
            WHERE conrelid = attrelid AND contype = 'n' AND NOT convalidated AND conkey = ARRAY[attnum]
        ), attgenerated <> '') ORDER BY attnum)
    FROM pg_attribute
    WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
$$;
CREATE FUNCTION repl.repl_long_images(relation oid, brought record, took record, key_stays boolean, OUT content text, OUT oldcontent text) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    -- Room is left for the rest of the row, and for the few characters that are two where it is read.
    together CONSTANT integer := 1000000000;
    longest  bigint;
BEGIN
    longest := least((SELECT max_row_bytes FROM "repl"."repl_settings"), together);
    content := textin(record_out(brought));
    IF octet_length(content) > longest THEN
        RAISE program_limit_exceeded USING MESSAGE =
            format('its row has %s MB as text, and may have %s', octet_length(content) / 1000000, longest / 1000000);
    END IF;
    BEGIN
        oldcontent := textin(record_out(took));
        IF octet_length(oldcontent) > least(longest, together - coalesce(octet_length(content), 0)) THEN
            RAISE program_limit_exceeded USING MESSAGE =
                format('its old row has %s MB as text, and may have %s', octet_length(oldcontent) / 1000000, longest / 1000000);
        END IF;
    EXCEPTION WHEN OTHERS THEN
        IF key_stays IS NOT TRUE THEN
            RAISE;
        END IF;
        oldcontent := NULL;
    END;
EXCEPTION WHEN OTHERS THEN
    content := NULL;
    oldcontent := NULL;
    RAISE WARNING 'a change of % could not be recorded for replication: %', relation::regclass, SQLERRM;
END
$$;
CREATE FUNCTION repl.repl_mark_function() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF TG_RELID <> '"repl"."repl_notes"'::regclass THEN
        INSERT INTO "repl"."repl_notes" (note, relid) VALUES ('waits', TG_RELID) ON CONFLICT DO NOTHING;
        RETURN NULL;
    END IF;
    DELETE FROM "repl"."repl_notes" WHERE ctid = NEW.ctid;
    IF NEW.repl_key IS NULL THEN
        SET CONSTRAINTS "repl"."mark" DEFERRED;
        INSERT INTO "repl"."repl_notes" (note, relid, repl_key) VALUES (NEW.note, NEW.relid, 0);
    ELSE
        INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action) VALUES (nextval('"repl"."repl_seq"'::regclass), NEW.relid, 'C');
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION repl.repl_may_plan(relation oid) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN "repl"."repl_expect_own_code"(relation::oid);
END
$$;
CREATE FUNCTION repl.repl_note(about text, relations oid[]) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    DELETE FROM "repl"."repl_notes" WHERE trans_key = pg_current_xact_id() AND note = about;
    INSERT INTO "repl"."repl_notes" (note, relid) SELECT about, unnest(relations);
$$;
CREATE FUNCTION repl.repl_noted(about text) RETURNS oid[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT ARRAY(SELECT relid FROM "repl"."repl_notes" WHERE trans_key = pg_current_xact_id_if_assigned() AND note = about)
$$;
CREATE FUNCTION repl.repl_overtaken(leaf oid, place tid, brought text, took text, keyed boolean, bearer_leaf oid, bearer tid, heir_leaf oid, heir tid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET row_security TO 'off'
    AS $_$
DECLARE
    own   bigint := currval('"repl"."repl_seq"'::regclass);
    begun bigint;
    moved tid;
    image text := brought;
    there boolean;
    row   text := 'SELECT textin(record_out(sluice_row.*)) FROM ONLY %s AS sluice_row WHERE "repl"."repl_may_plan"(%L::oid) AND ctid = $1';
BEGIN
    IF keyed THEN
        IF brought IS NOT NULL AND (bearer_leaf, bearer) IS DISTINCT FROM (leaf, place) THEN
            IF bearer IS NOT NULL THEN
                EXECUTE format(row, bearer_leaf::regclass, bearer_leaf) INTO image USING bearer;
            END IF;
            INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action, content, oldcontent)
            SELECT nextval('"repl"."repl_seq"'::regclass), coalesce(bearer_leaf, leaf), made.action, made.content, made.oldcontent
            FROM (VALUES
                ('D'::"char", NULL::text, brought, bearer IS NULL),
                ('U', image, brought, bearer_leaf = leaf),
                ('I', image, NULL, bearer_leaf <> leaf)) AS made (action, content, oldcontent, fits)
            WHERE made.fits;
        END IF;
        IF heir IS NOT NULL AND (heir_leaf, heir) IS DISTINCT FROM (bearer_leaf, bearer) THEN
            EXECUTE format(row, heir_leaf::regclass, heir_leaf) INTO image USING heir;
            INSERT INTO "repl"."repl_queue" (repl_key, relid, db_action, content)
            VALUES (nextval('"repl"."repl_seq"'::regclass), heir_leaf, 'I', image);
        END IF;
        RETURN;
    END IF;
    EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE "repl"."repl_may_plan"(%L::oid) AND ctid = $1)', leaf::regclass, leaf)
    INTO there USING place;
    IF there THEN
        RETURN;
    END IF;
    -- Rows that look alike are one as good as another: the first change of such a row makes way, whichever it was. Not across
    -- a TRUNCATE, nor to another layout.
    SELECT max(bound.repl_key) INTO begun
    FROM (
        SELECT repl_key FROM "repl"."repl_layouts" WHERE relid = leaf
        UNION ALL
        SELECT change.repl_key FROM "repl"."repl_queue" AS change
        WHERE change.trans_key = pg_current_xact_id() AND left(change.db_action, 1) = 'T'
          AND (change.relid = leaf OR change.relid IN (SELECT relid FROM pg_partition_ancestors(leaf)))
    ) AS bound;
    LOOP
        SELECT change.ctid, change.repl_key, change.content INTO moved, begun, image FROM "repl"."repl_queue" AS change
        WHERE change.trans_key = pg_current_xact_id() AND change.relid = leaf AND left(change.db_action, 1) IN ('U', 'D')
          AND change.oldcontent = image AND change.repl_key < own AND change.repl_key > begun
        ORDER BY change.repl_key LIMIT 1;
        EXIT WHEN NOT FOUND;
        UPDATE "repl"."repl_queue" SET repl_key = nextval('"repl"."repl_seq"'::regclass) WHERE ctid = moved;
        EXIT WHEN image IS NULL;
    END LOOP;
END
$_$;
CREATE FUNCTION repl.repl_own_text(sent text, tag text, context text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;
CREATE FUNCTION repl.repl_partitions(relation oid) RETURNS oid[]
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM pg_class WHERE oid = relation AND relkind = 'p') THEN ARRAY(
        SELECT class.oid
        FROM "repl"."repl_tree"(relation::oid) AS tree (relid)
        JOIN pg_class AS class ON class.oid = tree.relid AND class.relkind = 'r'
        WHERE class.oid <> relation
        ORDER BY class.oid)
    ELSE '{ }' END
$$;
CREATE FUNCTION repl.repl_partitions_join(relation oid, came oid[], statement text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT "repl"."repl_release_table"(entry.relid::oid, entry.trigger_name::text), "repl"."repl_forget"(entry.relid::oid, statement::text)
    FROM "repl"."repl_tables" AS entry
    WHERE entry.relid = ANY (came)
$$;
CREATE FUNCTION repl.repl_partitions_left(relation oid, gone oid[], statement text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    entry   "repl"."repl_tables";
    leaf    oid;
    deletes boolean;
    follows boolean;
BEGIN
    SELECT * INTO STRICT entry FROM "repl"."repl_tables" AS registered WHERE registered.relid = relation;
    deletes := coalesce(entry.actions, 'IUD') LIKE '%D%';
    follows := coalesce(entry.actions, 'IUD') LIKE '%U%' AND relation = ANY ("repl"."repl_noted"('rewritten'::text));
    FOREACH leaf IN ARRAY gone LOOP
        IF EXISTS (SELECT FROM pg_class WHERE oid = leaf) THEN
            BEGIN
                PERFORM "repl"."repl_release_table"(leaf::oid, entry.trigger_name::text);
            EXCEPTION WHEN lock_not_available THEN
                NULL;
            END;
            IF deletes AND NOT follows THEN
                PERFORM "repl"."repl_capture_rows"(leaf::oid, 'D'::"char", relation::oid);
            END IF;
            PERFORM "repl"."repl_adopt"(leaf::oid, statement::text);
        END IF;
    END LOOP;
END
$$;
CREATE FUNCTION repl.repl_poll(relation oid) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    known  "repl"."repl_current_tables";
    now    jsonb := "repl"."repl_table_definition"(relation::oid);
    parts  oid[];
    leaf   oid;
    begins jsonb := '{ }';
    told   record;
    again  boolean;
    keys   bigint;
    single boolean;
    listed bigint;
BEGIN
    SELECT * INTO known FROM "repl"."repl_current_tables" AS was WHERE was.relid = relation;
    IF known IS NULL THEN
        PERFORM "repl"."repl_adopt"(relation::oid, NULL::text);
        RETURN true;
    ELSIF now IS NULL THEN
        IF EXISTS (SELECT FROM pg_class WHERE oid = relation) THEN
            PERFORM "repl"."repl_release_table"(relation::oid, entry.trigger_name::text) FROM "repl"."repl_tables" AS entry WHERE entry.relid = relation;
        END IF;
        -- Rows that were written since its last column went have images that list nothing, and nobody could read. That may
        -- have been before it was dropped. Of one column, NULL is printed so, too: what comes last is given up, for a slave
        -- that cannot take a NULL would stop there. A column that parts a table cannot go.
        single := jsonb_array_length(known.definition -> 'columns') = 1;
        SELECT max(change.repl_key) INTO listed FROM "repl"."repl_queue" AS change
        WHERE single AND change.relid = relation AND (change.content <> '()' OR change.oldcontent <> '()');
        IF NOT single OR cardinality(known.partitions) = 0 THEN
            PERFORM set_config('sluice.purge', 'on', true);
            DELETE FROM "repl"."repl_queue" AS change
            WHERE change.relid = ANY (known.partitions || relation) AND '()' IN (change.content, change.oldcontent)
              AND change.repl_key > coalesce(listed, 0);
            PERFORM set_config('sluice.purge', '', true);
        END IF;
        PERFORM "repl"."repl_forget"(relation::oid, NULL::text);
        RETURN true;
    END IF;
    parts := "repl"."repl_partitions"(relation::oid);
    FOREACH leaf IN ARRAY parts || relation LOOP
        SELECT * INTO told FROM "repl"."repl_first_image"(leaf::oid, relation::oid, known.definition::jsonb, now::jsonb);
        IF NOT told.certain THEN
            RETURN false;
        END IF;
        begins := begins || jsonb_build_object(leaf::text, told.first);
    END LOOP;
    SELECT bool_or(CASE WHEN old.type IS NOT NULL THEN old.type <> new.type
                        ELSE NOT a.atthasmissing AND (new.not_null OR coalesce(new."default", new.identity) IS NOT NULL) END)
    INTO again
    FROM jsonb_to_recordset(now -> 'columns') AS new (number int, type text, not_null boolean, "default" text, identity text)
    JOIN pg_attribute AS a ON a.attrelid = relation AND a.attnum = new.number
    LEFT JOIN jsonb_to_recordset(known.definition -> 'columns') AS old (number int, type text) USING (number);
    SELECT count(DISTINCT ARRAY(
        SELECT c ->> 'number'
        FROM jsonb_array_elements_text(side -> 'key') WITH ORDINALITY AS part (name, place)
        JOIN jsonb_array_elements(side -> 'columns') AS c ON c ->> 'name' = part.name
        ORDER BY part.place
    ) || (side -> 'constraints' -> 0 ->> 1 LIKE '%DEFERRABLE%')::text) INTO keys
    FROM unnest(ARRAY[known.definition, now]) AS side;
    again := again OR NOT known.partitions <@ parts OR NOT known.clones <@ "repl"."repl_clones"(relation::oid)
        OR keys > 1 AND EXISTS (SELECT FROM "repl"."repl_queue" AS change WHERE change.relid = ANY (parts || relation));
    FOR leaf IN SELECT unnest(parts) EXCEPT SELECT unnest(known.partitions) LOOP
        again := again OR pg_relation_size(leaf) > 0;
    END LOOP;
    -- Rows that went with a partition go with all others, where the whole table can follow.
    UPDATE "repl"."repl_tables" AS entry SET status = 'LOST'
    WHERE entry.relid = relation AND entry.status = 'OK' AND NOT known.partitions <@ parts
      AND entry.actions LIKE '%D%' AND entry.actions NOT LIKE '%U%';
    PERFORM "repl"."repl_note"('dropping'::text, known.partitions::oid[]);
    PERFORM "repl"."repl_note"('rewritten'::text, (CASE WHEN again THEN ARRAY[relation] ELSE '{ }' END)::oid[]);
    PERFORM "repl"."repl_follow"(relation::oid, NULL::text);
    PERFORM "repl"."repl_note"('dropping'::text, '{ }'::oid[]);
    PERFORM "repl"."repl_capture_again"(relation::oid);
    PERFORM "repl"."repl_note"('rewritten'::text, '{ }'::oid[]);
    UPDATE "repl"."repl_layouts" AS layout SET repl_key = (begins ->> layout.relid::text)::bigint
    WHERE begins ->> layout.relid::text IS NOT NULL
      AND layout.repl_key = (SELECT max(newest.repl_key) FROM "repl"."repl_layouts" AS newest WHERE newest.relid = layout.relid);
    RETURN true;
END
$$;
CREATE FUNCTION repl.repl_printed_under(relation oid) RETURNS SETOF text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH RECURSIVE known (types, settings) AS (VALUES
        ('{bool,char,name,text,varchar,bpchar,int2,int4,int8,numeric,oid,xid,xid8,cid,tid,int2vector,oidvector,pg_lsn,uuid,
           bit,varbit,inet,cidr,macaddr,macaddr8,json,jsonb,jsonpath,xml,tsvector,tsquery}'::name[], ARRAY[]::text[]),
        ('{date,time,timetz,timestamp}', '{datestyle}'),
        ('{timestamptz}', '{datestyle,timezone}'),
        ('{interval}', '{intervalstyle}'),
        ('{float4,float8,point,lseg,line,box,path,polygon,circle}', '{extra_float_digits}'),
        ('{bytea}', '{bytea_output}'),
        ('{money}', '{lc_monetary}')
    ), inside (type) AS (
        SELECT atttypid FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
        UNION
        SELECT CASE type.typtype
            WHEN 'd' THEN type.typbasetype
            WHEN 'b' THEN type.typelem
            ELSE (SELECT rngsubtype FROM pg_range WHERE type.oid IN (rngtypid, rngmultitypid))
        END
        FROM inside
        JOIN pg_type AS type ON type.oid = inside.type
        WHERE type.typtype IN ('d', 'r', 'm') OR type.typoutput = 'array_out'::regproc
    )
    SELECT DISTINCT unnest(coalesce(
        known.settings,
        '{search_path,datestyle,intervalstyle,timezone,extra_float_digits,bytea_output,lc_monetary}'))
    FROM inside
    JOIN pg_type AS type ON type.oid = inside.type
    LEFT JOIN known ON type.typname = ANY (known.types) AND type.typnamespace = 'pg_catalog'::regnamespace
    WHERE type.typtype NOT IN ('d', 'r', 'm', 'e') AND type.typoutput <> 'array_out'::regproc
$$;
CREATE FUNCTION repl.repl_put_trigger(target regclass, name text, moment text, each text, function regprocedure) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_trigger
        WHERE tgrelid = target AND tgname = name AND tgparentid = 0 AND (tgfoid <> function OR tgconstraint <> 0))
    THEN
        EXECUTE format('DROP TRIGGER %I ON %s', name, target);
    END IF;
    EXECUTE format(
        'CREATE OR REPLACE TRIGGER %I %s ON %s FOR EACH %s EXECUTE FUNCTION %s', name, moment, target, each, function);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, name);
END
$$;
CREATE FUNCTION repl.repl_record_layout(root oid) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH now AS (
        SELECT tree.relid, namespace.nspname, class.relname, layout.*
        FROM "repl"."repl_tree"(root::oid) AS tree (relid)
        CROSS JOIN (SELECT relname, relnamespace FROM pg_class WHERE oid = root) AS class
        JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
        CROSS JOIN LATERAL "repl"."repl_current_layout"(tree.relid::oid) AS layout
    ), written AS (
        INSERT INTO "repl"."repl_layouts" (repl_key, relid, schemaname, tablename, columns, key, deferred)
        SELECT nextval('"repl"."repl_seq"'::regclass), now.relid, now.nspname, now.relname, now.columns, now.key, now.deferred
        FROM now
        LEFT JOIN LATERAL (
            SELECT * FROM "repl"."repl_layouts" AS old WHERE old.relid = now.relid ORDER BY old.repl_key DESC LIMIT 1
        ) AS last ON true
        WHERE (last.schemaname, last.tablename, last.columns, last.key, last.deferred)
            IS DISTINCT FROM (now.nspname::text, now.relname::text, now.columns, now.key, now.deferred)
        RETURNING 1
    )
    SELECT count(*) FROM written
$$;
CREATE FUNCTION repl.repl_registering() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    alike record;
BEGIN
    IF "repl"."repl_noted"('installing'::text) <> '{ }' OR TG_OP = 'INSERT' AND NEW.status NOT IN ('CREATING', 'WANTED') THEN
        RETURN NEW;
    END IF;
    IF TG_WHEN = 'AFTER' AND NEW.relid IS NULL THEN
        RETURN NEW;
    ELSIF TG_WHEN = 'AFTER' THEN
        -- The command is read by the table's columns (R7).
        PERFORM "repl"."repl_record_layout"(NEW.relid::oid);
        PERFORM "repl"."repl_command"(
            'N'::"char", NEW.relid::oid, NULL::jsonb,
            "repl"."repl_described"(NEW.relid::oid, NULL::jsonb, "repl"."repl_table_definition"(NEW.relid::oid)::jsonb, false)::jsonb, NULL::text);
        RETURN NEW;
    END IF;
    NEW.actions := upper(replace(NEW.actions, ' ', ''));
    IF NEW.actions ~ '[^IUD]' THEN
        RAISE EXCEPTION 'actions are some of I, U and D, and not %', NEW.actions;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF NEW.trigger_name <> OLD.trigger_name THEN
            RAISE EXCEPTION 'the trigger % keeps its name', OLD.trigger_name
                USING HINT = 'The configuration gives it another one.';
        END IF;
        NEW.status := CASE WHEN OLD.status = 'WANTED' THEN 'WANTED' ELSE NEW.status END;
        RETURN NEW;
    END IF;
    SELECT living.relid INTO NEW.relid FROM (-- Tables that a wildcard may take: ordinary and partitioned ones with columns; no partitions, which belong to their
SELECT class.oid AS relid, namespace.nspname AS schemaname, class.relname
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE class.relkind IN ('r', 'p')
  AND class.relpersistence <> 't'
  AND NOT class.relispartition
  AND class.relname NOT IN ('sluice_position', 'sluice_loaded', 'sluice_ranges', 'sluice_indexes',
                            'sluice_references')
  AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = class.oid AND a.attnum > 0 AND NOT a.attisdropped)
  AND NOT EXISTS (
    SELECT FROM pg_depend AS d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = class.oid AND d.objsubid = 0 AND d.deptype = 'e')
  AND NOT EXISTS (
    SELECT
    FROM pg_proc AS made
    CROSS JOIN LATERAL left(made.proname, -length('needs_prot')) AS prefix
    WHERE made.pronamespace = class.relnamespace
      AND made.proname = prefix || 'needs_prot'
      AND starts_with(class.relname, prefix)
      AND EXISTS (SELECT FROM pg_class AS seq
                  WHERE seq.relnamespace = class.relnamespace AND seq.relname = prefix || 'seq' AND seq.relkind = 'S'))
) AS living
    WHERE (living.schemaname, living.relname) = (NEW.schemaname, NEW.tablename);
    SELECT living.schemaname, living.relname INTO alike FROM (-- Tables that a wildcard may take: ordinary and partitioned ones with columns; no partitions, which belong to their
SELECT class.oid AS relid, namespace.nspname AS schemaname, class.relname
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE class.relkind IN ('r', 'p')
  AND class.relpersistence <> 't'
  AND NOT class.relispartition
  AND class.relname NOT IN ('sluice_position', 'sluice_loaded', 'sluice_ranges', 'sluice_indexes',
                            'sluice_references')
  AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = class.oid AND a.attnum > 0 AND NOT a.attisdropped)
  AND NOT EXISTS (
    SELECT FROM pg_depend AS d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = class.oid AND d.objsubid = 0 AND d.deptype = 'e')
  AND NOT EXISTS (
    SELECT
    FROM pg_proc AS made
    CROSS JOIN LATERAL left(made.proname, -length('needs_prot')) AS prefix
    WHERE made.pronamespace = class.relnamespace
      AND made.proname = prefix || 'needs_prot'
      AND starts_with(class.relname, prefix)
      AND EXISTS (SELECT FROM pg_class AS seq
                  WHERE seq.relnamespace = class.relnamespace AND seq.relname = prefix || 'seq' AND seq.relkind = 'S'))
) AS living
    WHERE lower(regexp_replace(living.schemaname, '\s', '', 'g')) = lower(regexp_replace(NEW.schemaname, '\s', '', 'g'))
      AND lower(regexp_replace(living.relname, '\s', '', 'g')) = lower(regexp_replace(NEW.tablename, '\s', '', 'g'));
    IF NEW.relid IS NULL AND NEW.status = 'CREATING' AND alike.relname IS NOT NULL THEN
        RAISE EXCEPTION 'there is no table %.%; there is %.%', NEW.schemaname, NEW.tablename, alike.schemaname, alike.relname
            USING HINT = 'Name it as the catalog does, or set its status to WANTED if it is to come.';
    END IF;
    NEW.status := CASE WHEN NEW.relid IS NULL THEN 'WANTED' ELSE 'CREATING' END;
    IF NEW.relid IS NULL AND EXISTS (
        SELECT FROM pg_class AS class JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
        WHERE (namespace.nspname, class.relname) = (NEW.schemaname::name, NEW.tablename::name))
    THEN
        RAISE EXCEPTION 'there is no table %.% that can be watched', NEW.schemaname, NEW.tablename;
    END IF;
    NEW.repl_key := coalesce(NEW.repl_key, nextval('"repl"."repl_seq"'::regclass));
    NEW.trigger_name := coalesce(NEW.trigger_name, concat('RI_z_repl_capture_', NEW.relid));
    IF NEW.trigger_name COLLATE "C" < 'RI_ConstraintTrigger_' OR starts_with(NEW.trigger_name, 'RI_ConstraintTrigger_') THEN
        RAISE EXCEPTION 'the trigger % would fire before the table''s foreign keys are checked', NEW.trigger_name;
    ELSIF octet_length(NEW.trigger_name) > current_setting('max_identifier_length')::integer - 2 THEN
        RAISE EXCEPTION 'the trigger name % is too long', NEW.trigger_name;
    END IF;
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = NEW.relid
               AND tgname IN (NEW.trigger_name, NEW.trigger_name || '_t', 'W_' || NEW.trigger_name)) THEN
        RAISE EXCEPTION 'there is a trigger % already', NEW.trigger_name;
    END IF;
    RETURN NEW;
END
$$;
CREATE FUNCTION repl.repl_release_log(relation oid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    had "repl"."repl_identities";
    was oid[] := "repl"."repl_noted"('installing'::text);
BEGIN
    -- Or the event triggers would see to it that all stays as it is.
    PERFORM "repl"."repl_note"('installing'::text, ARRAY[relation]::oid[]);
    IF EXISTS (
        SELECT FROM pg_publication_rel AS listed
        JOIN pg_publication AS publication ON publication.oid = listed.prpubid
        WHERE publication.pubname = 'repl.repl_rows' AND listed.prrelid = relation)
    THEN
        EXECUTE format('ALTER PUBLICATION %I DROP TABLE ONLY %s', 'repl.repl_rows', relation::regclass);
    END IF;
    FOR had IN
        DELETE FROM "repl"."repl_identities" AS known WHERE known.relid = ANY ("repl"."repl_partitions"(relation::oid) || relation) RETURNING *
    LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_class WHERE oid = had.relid AND relreplident = 'f');
        EXECUTE format('ALTER TABLE ONLY %s REPLICA IDENTITY %s', had.relid::regclass, CASE
            WHEN had.identity = 'n' THEN 'NOTHING'
            WHEN EXISTS (SELECT FROM pg_index WHERE indexrelid = had.index) THEN
                (SELECT format('USING INDEX %I', relname) FROM pg_class WHERE oid = had.index)
            ELSE 'DEFAULT' END);
    END LOOP;
    PERFORM "repl"."repl_note"('installing'::text, was::oid[]);
END
$$;
CREATE FUNCTION repl.repl_release_table(relation oid, trigger_name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT tgrelid::regclass AS target, tgname
        FROM pg_trigger
        JOIN pg_proc AS function ON function.oid = tgfoid
        JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace AND namespace.nspname = 'repl'
        WHERE tgrelid = ANY ("repl"."repl_partitions"(relation::oid) || relation)
          AND tgparentid = 0
          AND (function.proname = 'repl_capture_' || relation
               OR function.oid IN ('"repl"."repl_mark_function"()'::regprocedure, '"repl"."repl_truncating"()'::regprocedure))
          AND tgname = ANY (ARRAY[trigger_name, trigger_name || '_t', 'W_' || trigger_name, trigger_name || '_b',
                                  trigger_name || '_e'])
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', found.tgname, found.target);
    END LOOP;
    PERFORM "repl"."repl_release_log"(relation::oid);
END
$$;
CREATE FUNCTION repl.repl_rewritten() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    relation oid := pg_event_trigger_table_rewrite_oid();
BEGIN
    -- 2: a default for each row; 4: another type. The others (persistence, access method) keep every value, but nobody can
    -- tell afterwards which one a column got that comes with the same ALTER.
    IF pg_event_trigger_table_rewrite_reason() & 6 <> 0 OR EXISTS (
        SELECT FROM "repl"."repl_current_tables" AS known
        JOIN pg_attribute AS a ON a.attrelid = relation AND a.atthasmissing
        WHERE relation = ANY (known.partitions || known.relid)
          AND NOT EXISTS (
            SELECT FROM jsonb_to_recordset(known.definition -> 'columns') AS was (name text) WHERE was.name = a.attname))
    THEN
        INSERT INTO "repl"."repl_notes" (note, relid) VALUES ('rewritten', relation);
    END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'what changed could not be recorded for replication: %', SQLERRM;
END
$$;
CREATE FUNCTION repl.repl_silenced() RETURNS SETOF oid
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH recorded AS MATERIALIZED (
        SELECT DISTINCT ON (relid) relid, deferred FROM "repl"."repl_layouts" ORDER BY relid, repl_key DESC
    ), ours (mark, truncating) AS (
        VALUES ('"repl"."repl_mark_function"()'::regprocedure::oid, '"repl"."repl_truncating"()'::regprocedure::oid)
    )
    SELECT entry.relid
    FROM "repl"."repl_tables" AS entry
    JOIN pg_class AS class ON class.oid = entry.relid
    CROSS JOIN ours
    CROSS JOIN (SELECT coalesce((SELECT by_log FROM "repl"."repl_settings"), false)) AS way (by_log)
    CROSS JOIN LATERAL (
        SELECT rtrim(coalesce(entry.actions, 'IUD')) AS actions,
               to_regprocedure(format('%I.%I()', 'repl', 'repl_capture_' || entry.relid))::oid AS function
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
            SELECT FROM "repl"."repl_tree"(entry.relid::oid) AS tree (relid)
            JOIN pg_class AS one ON one.oid = tree.relid
            WHERE one.relkind = 'f' OR one.relpersistence = 'u' OR one.relkind = 'r' AND one.relreplident <> 'f')
        OR NOT EXISTS (
            SELECT FROM pg_publication_rel AS listed
            JOIN pg_publication AS publication ON publication.oid = listed.prpubid
            WHERE publication.pubname = 'repl.repl_rows' AND listed.prrelid = entry.relid AND listed.prqual IS NULL
              AND listed.prattrs IS NULL AND publication.pubinsert AND publication.pubupdate AND publication.pubdelete)
        OR (
            SELECT count(*) FROM pg_publication_rel AS listed
            JOIN pg_publication AS publication ON publication.oid = listed.prpubid
            WHERE publication.pubname = 'repl.repl_commands' AND publication.pubinsert AND listed.prqual IS NULL
              AND listed.prattrs IS NULL AND listed.prrelid IN (to_regclass('"repl"."repl_queue"'), to_regclass('"repl"."repl_layouts"'))) < 2)
      OR EXISTS (
        SELECT FROM (
            SELECT member.oid, CASE WHEN member.relkind <> 'f' THEN entry.trigger_name END, wanted.function, type.rows
            FROM "repl"."repl_tree"(entry.relid::oid) AS tree (relid)
            JOIN pg_class AS member ON member.oid = tree.relid
            WHERE NOT way.by_log
            UNION ALL
            SELECT member, entry.trigger_name || '_t', CASE member WHEN entry.relid THEN wanted.function ELSE ours.truncating END,
                   CASE member WHEN entry.relid THEN 32 ELSE 34 END
            FROM unnest("repl"."repl_partitions"(entry.relid::oid) || entry.relid) AS member
            WHERE wanted.actions LIKE '%D%'
              AND (member = entry.relid OR member IN (
                SELECT unnest(known.partitions) FROM "repl"."repl_current_tables" AS known WHERE known.relid = entry.relid))
            UNION ALL
            SELECT entry.relid, entry.trigger_name || suffix, ours.truncating, bits
            FROM (VALUES ('_b', 34), ('_e', 32)) AS ends (suffix, bits)
            WHERE class.relkind = 'p' AND wanted.actions LIKE '%D%'
            UNION ALL
            SELECT member, 'W_' || entry.trigger_name, ours.mark, 29
            FROM unnest("repl"."repl_partitions"(entry.relid::oid) || entry.relid) AS member
            WHERE NOT way.by_log AND member IN (SELECT recorded.relid FROM recorded WHERE recorded.deferred)
        ) AS needed (relid, name, function, type)
        WHERE NOT EXISTS (
            SELECT FROM pg_trigger AS made
            WHERE made.tgrelid = needed.relid AND made.tgfoid = needed.function
              AND "repl"."repl_fires"(made::pg_trigger, needed.type::integer)
              AND made.tgname = needed.name)))
$$;
CREATE FUNCTION repl.repl_table_definition(relation oid) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET join_collapse_limit TO '1'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'postgres'
    SET "TimeZone" TO 'UTC'
    SET extra_float_digits TO '1'
    SET bytea_output TO 'hex'
    SET lc_monetary TO 'C'
    SET standard_conforming_strings TO 'on'
    SET quote_all_identifiers TO 'off'
    AS $_$
    SELECT known.definition
    FROM (-- What tables are, by relid, in the form in which commands carry it: see "Commands" in include/docs/ddl.md. A dump
SELECT class.oid AS relid, jsonb_build_object(
    'schema', namespace.nspname,
    'table', class.relname,
    'columns', coalesce((
        SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
            'number', a.attnum,
            'name', a.attname,
            'type', format_type(a.atttypid, a.atttypmod),
            'not_null', a.attnotnull AND NOT EXISTS (
                SELECT FROM pg_constraint AS c
                WHERE c.conrelid = a.attrelid AND c.contype = 'n' AND NOT c.convalidated AND c.conkey = ARRAY[a.attnum]),
            'default', CASE WHEN a.attgenerated = '' THEN pg_get_expr(made.adbin, made.adrelid) END,
            'generated', CASE WHEN a.attgenerated <> '' THEN pg_get_expr(made.adbin, made.adrelid) END,
            'virtual', CASE WHEN a.attgenerated = 'v' THEN true END,
            'identity', CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END,
            'counter', CASE WHEN counter.seqrelid IS NOT NULL THEN concat(
                'INCREMENT BY ', counter.seqincrement,
                ' MINVALUE ', greatest(counter.seqmin, -whole.high - 1),
                ' MAXVALUE ', least(counter.seqmax, whole.high),
                ' START WITH ', least(counter.seqstart, whole.high),
                CASE WHEN counter.seqcycle THEN ' CYCLE' ELSE ' NO CYCLE' END) END,
            'collation', CASE WHEN a.attcollation <> type.typcollation
                              THEN quote_ident(collation_schema.nspname) || '.' || quote_ident(coll.collname) END
            )) ORDER BY a.attnum)
        FROM pg_attribute AS a
        JOIN pg_type AS type ON type.oid = a.atttypid
        LEFT JOIN pg_attrdef AS made ON made.adrelid = a.attrelid AND made.adnum = a.attnum
        LEFT JOIN LATERAL (
            -- The sequence that is the column's own, or that its default draws from.
            SELECT settings.*
            FROM pg_depend AS d
            JOIN pg_sequence AS settings ON settings.seqrelid IN (d.objid, d.refobjid)
            WHERE (a.attidentity <> '' OR made.oid IS NOT NULL AND a.attgenerated = '')
              AND d.refclassid = 'pg_class'::regclass
              AND (d.classid = 'pg_class'::regclass AND d.deptype = 'i' AND d.refobjid = a.attrelid
                   AND d.refobjsubid = a.attnum
                   OR d.classid = 'pg_attrdef'::regclass AND d.objid = made.oid)
            LIMIT 1
        ) AS counter ON true
        LEFT JOIN (VALUES ('smallint'::regtype, 32767), ('integer', 2147483647), ('bigint', 9223372036854775807))
            AS whole (type, high) ON whole.type = a.atttypid
        LEFT JOIN pg_collation AS coll ON coll.oid = a.attcollation
        LEFT JOIN pg_namespace AS collation_schema ON collation_schema.oid = coll.collnamespace
        WHERE a.attrelid = class.oid AND a.attnum > 0 AND NOT a.attisdropped), '[]'),
    'key', coalesce((
        SELECT jsonb_agg(a.attname ORDER BY part.n)
        FROM pg_constraint AS c
        CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS part (attnum, n)
        JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = part.attnum
        WHERE c.conrelid = class.oid AND c.contype = 'p'), '[]'),
    'constraints', coalesce((
        SELECT jsonb_agg(jsonb_build_array(c.conname, pg_get_constraintdef(c.oid)) ORDER BY c.contype <> 'p', c.conname)
        FROM pg_constraint AS c
        WHERE c.conrelid = class.oid AND c.contype IN ('p', 'u', 'c', 'x')), '[]'),
    'foreign_keys', coalesce((
        SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
            'name', c.conname,
            'columns', (SELECT jsonb_agg(a.attname ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY AS k (num, n)
                        JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.num),
            'schema', parent_schema.nspname,
            'table', parent.relname,
            'parent_columns', (SELECT jsonb_agg(a.attname ORDER BY k.n) FROM unnest(c.confkey) WITH ORDINALITY AS k (num, n)
                               JOIN pg_attribute AS a ON a.attrelid = c.confrelid AND a.attnum = k.num),
            'on_update', c.confupdtype,
            'on_delete', c.confdeltype,
            'full', c.confmatchtype = 'f',
            'deferrable', c.condeferrable,
            'deferred', c.condeferred,
            -- Older servers lack these columns.
            'period', nullif((to_jsonb(c) ->> 'conperiod')::boolean, false),
            'cleared', (SELECT jsonb_agg(a.attname ORDER BY k.n)
                        FROM jsonb_array_elements_text(nullif(to_jsonb(c) -> 'confdelsetcols', 'null')) WITH ORDINALITY AS k (num, n)
                        JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.num::int),
            'lenience', substring(pg_get_constraintdef(c.oid) FROM '(NOT VALID|NOT ENFORCED)$'))) ORDER BY c.conname)
        FROM pg_constraint AS c
        JOIN pg_class AS parent ON parent.oid = c.confrelid
        JOIN pg_namespace AS parent_schema ON parent_schema.oid = parent.relnamespace
        WHERE c.conrelid = class.oid AND c.contype = 'f' AND c.conparentid = 0), '[]')
    ) AS definition
FROM pg_class AS class
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
) AS known
    WHERE known.relid = relation
      AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped)
$_$;
CREATE FUNCTION repl.repl_take_up(relation oid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    entry "repl"."repl_tables";
    known boolean := EXISTS (SELECT FROM "repl"."repl_current_tables" AS was WHERE was.relid = relation);
BEGIN
    SELECT * INTO STRICT entry FROM "repl"."repl_tables" AS registered WHERE registered.relid = relation;
    IF known AND relation IN (SELECT "repl"."repl_silenced"()) THEN
        UPDATE "repl"."repl_tables" SET status = 'LOST' WHERE relid = relation;
        RETURN;
    END IF;
    PERFORM "repl"."repl_release_table"(relation::oid, entry.trigger_name::text);
    PERFORM "repl"."repl_capture_table"(
        relation::oid, rtrim(coalesce(entry.actions, 'IUD'))::text, entry.trigger_name::text, entry.debug::integer);
    UPDATE "repl"."repl_tables" SET status = 'OK' WHERE relid = relation;
    IF NOT known THEN
        INSERT INTO "repl"."repl_current_tables" (relid, schemaname, relname, definition, partitions, clones, types)
        VALUES (relation, entry.schemaname, entry.tablename, "repl"."repl_table_definition"(relation::oid), "repl"."repl_partitions"(relation::oid),
                "repl"."repl_clones"(relation::oid), "repl"."repl_types_reached"(relation::oid));
        IF (SELECT detection AND initial_content FROM "repl"."repl_settings") THEN
            PERFORM "repl"."repl_capture_rows"(relation::oid, 'I'::"char", relation::oid);
        END IF;
    END IF;
END
$$;
CREATE FUNCTION repl.repl_tree(root oid) RETURNS SETOF oid
    LANGUAGE sql STABLE ROWS 10
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH RECURSIVE tree (relid) AS (
        SELECT root
        UNION
        SELECT below.inhrelid
        FROM tree
        JOIN pg_inherits AS below ON below.inhparent = tree.relid
        JOIN pg_class AS class ON class.oid = below.inhrelid AND class.relispartition
    )
    SELECT relid FROM tree
$$;
CREATE FUNCTION repl.repl_truncating() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    whole oid[] := "repl"."repl_noted"('truncating'::text);
BEGIN
    IF (SELECT relkind FROM pg_class WHERE oid = TG_RELID) = 'p' THEN
        IF TG_RELID IN (SELECT relid FROM "repl"."repl_tables") THEN
            PERFORM "repl"."repl_note"(
                'truncating'::text,
                (CASE TG_WHEN WHEN 'BEFORE' THEN whole || TG_RELID ELSE array_remove(whole, TG_RELID) END)::oid[]);
        END IF;
    ELSIF EXISTS (SELECT FROM pg_partition_ancestors(TG_RELID) JOIN "repl"."repl_tables" USING (relid))
        AND NOT EXISTS (SELECT FROM pg_partition_ancestors(TG_RELID) WHERE relid = ANY (whole))
    THEN
        BEGIN
            PERFORM "repl"."repl_capture_rows"(TG_RELID::oid, 'D'::"char", entry.relid::oid)
            FROM pg_partition_ancestors(TG_RELID) JOIN "repl"."repl_tables" AS entry USING (relid);
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'rows of % could not be recorded for replication: %', TG_RELID::regclass, SQLERRM;
            UPDATE "repl"."repl_tables" AS entry SET status = 'LOST'
            WHERE entry.status = 'OK' AND entry.relid IN (SELECT relid FROM pg_partition_ancestors(TG_RELID));
        END;
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION repl.repl_types_altered(known jsonb, now jsonb) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT string_agg(format_type(was.type::oid, NULL), ', ' ORDER BY was.type::oid)
    FROM jsonb_each(known) AS was (type, made)
    WHERE now ? was.type
      AND CASE jsonb_typeof(was.made) WHEN 'object' THEN NOT now -> was.type @> was.made ELSE now -> was.type <> was.made END
$$;
CREATE FUNCTION repl.repl_types_reached(relation oid) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    WITH RECURSIVE reached (type) AS (
        SELECT atttypid
        FROM pg_attribute
        WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped AND atttypid >= 16384
        UNION
        SELECT part.type
        FROM reached
        JOIN pg_type AS whole ON whole.oid = reached.type
        CROSS JOIN LATERAL (
            SELECT unnest(ARRAY[whole.typbasetype, whole.typelem])
            UNION ALL SELECT rngsubtype FROM pg_range WHERE rngtypid = whole.oid
            UNION ALL SELECT rngtypid FROM pg_range WHERE rngmultitypid = whole.oid
            UNION ALL SELECT atttypid FROM pg_attribute
                WHERE whole.typtype = 'c' AND attrelid = whole.typrelid AND attnum > 0 AND NOT attisdropped
        ) AS part (type)
        WHERE part.type >= 16384
    )
    SELECT coalesce(jsonb_object_agg(type.oid, CASE type.typtype
        WHEN 'e' THEN coalesce((
            SELECT jsonb_object_agg(label.oid, label.enumlabel) FROM pg_enum AS label WHERE label.enumtypid = type.oid), '{ }')
        ELSE coalesce((
            SELECT jsonb_agg(jsonb_build_array(attnum, atttypid::bigint, atttypmod) ORDER BY attnum)
            FROM pg_attribute
            WHERE attrelid = type.typrelid AND attnum > 0 AND NOT attisdropped), '[]')
        END), '{ }')
    FROM reached
    JOIN pg_type AS type ON type.oid = reached.type
    WHERE type.typtype IN ('e', 'c')
$$;
CREATE TABLE repl.repl_wanted (
    schemaname text NOT NULL,
    tablename text NOT NULL,
    wildcard boolean NOT NULL,
    excluded boolean NOT NULL,
    actions text NOT NULL,
    trigger_name text,
    debug integer DEFAULT 0 NOT NULL,
    old_images text DEFAULT 'full'::text NOT NULL
);
CREATE FUNCTION repl.repl_wants(schema text, name text) RETURNS SETOF repl.repl_wanted
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT best.schemaname, best.tablename, best.wildcard, best.excluded, best.actions, best.trigger_name, best.debug,
           best.old_images
    FROM (
        SELECT * FROM (
            SELECT false AS listed, entry.*
            FROM "repl"."repl_wanted" AS entry
            WHERE entry.schemaname = schema
              AND CASE WHEN entry.wildcard THEN starts_with(name, entry.tablename) ELSE name = entry.tablename END
            UNION ALL
            SELECT true, entry.schemaname, entry.tablename, false, false, rtrim(coalesce(entry.actions, 'IUD')),
                   nullif(entry.trigger_name, 'RI_z_repl_capture_'), entry.debug, entry.old_images
            FROM "repl"."repl_tables" AS entry
            WHERE (entry.schemaname, entry.tablename, entry.status) = (schema, name, 'WANTED')
        ) AS entry
        ORDER BY entry.listed DESC, entry.wildcard, entry.excluded DESC, length(entry.tablename) DESC
        LIMIT 1
    ) AS best
    WHERE NOT best.excluded
$$;
CREATE TABLE public.t (
    id integer NOT NULL,
    v text
);
CREATE TABLE repl.repl_tables (
    catalogname character varying(63) DEFAULT ' '::character varying NOT NULL,
    schemaname character varying(63) NOT NULL,
    tablename character varying(63) NOT NULL,
    actions character varying(3),
    status character varying(10) DEFAULT 'CREATING'::character varying NOT NULL,
    repl_key bigint NOT NULL,
    trigger_name character varying(63) NOT NULL,
    debug integer DEFAULT 0 NOT NULL,
    relid oid,
    old_images text DEFAULT 'full'::text NOT NULL
);
CREATE VIEW repl.repl_cols_view AS
 SELECT class.oid AS relid,
    (namespace.nspname)::text AS schemaname,
    (class.relname)::text AS relname,
    repl.repl_table_definition(class.oid) AS definition,
    repl.repl_partitions(class.oid) AS partitions
   FROM (pg_class class
     JOIN pg_namespace namespace ON ((namespace.oid = class.relnamespace)))
  WHERE ((class.oid IN ( SELECT living.relid
           FROM ( SELECT class_1.oid AS relid,
                    namespace_1.nspname AS schemaname,
                    class_1.relname
                   FROM (pg_class class_1
                     JOIN pg_namespace namespace_1 ON ((namespace_1.oid = class_1.relnamespace)))
                  WHERE ((class_1.relkind = ANY (ARRAY['r'::"char", 'p'::"char"])) AND (class_1.relpersistence <> 't'::"char") AND (NOT class_1.relispartition) AND (class_1.relname <> ALL (ARRAY['sluice_position'::name, 'sluice_loaded'::name, 'sluice_ranges'::name, 'sluice_indexes'::name, 'sluice_references'::name])) AND (EXISTS ( SELECT
                           FROM pg_attribute a
                          WHERE ((a.attrelid = class_1.oid) AND (a.attnum > 0) AND (NOT a.attisdropped)))) AND (NOT (EXISTS ( SELECT
                           FROM pg_depend d
                          WHERE ((d.classid = ('pg_class'::regclass)::oid) AND (d.objid = class_1.oid) AND (d.objsubid = 0) AND (d.deptype = 'e'::"char"))))) AND (NOT (EXISTS ( SELECT
                           FROM (pg_proc made
                             CROSS JOIN LATERAL "left"((made.proname)::text, (- length('needs_prot'::text))) prefix(prefix))
                          WHERE ((made.pronamespace = class_1.relnamespace) AND (made.proname = (prefix.prefix || 'needs_prot'::text)) AND starts_with((class_1.relname)::text, prefix.prefix) AND (EXISTS ( SELECT
                                   FROM pg_class seq
                                  WHERE ((seq.relnamespace = class_1.relnamespace) AND (seq.relname = (prefix.prefix || 'seq'::text)) AND (seq.relkind = 'S'::"char")))))))))) living
          WHERE (EXISTS ( SELECT
                   FROM repl.repl_wants((living.schemaname)::text, (living.relname)::text) repl_wants(schemaname, tablename, wildcard, excluded, actions, trigger_name, debug, old_images))))) OR (class.oid IN ( SELECT repl_tables.relid
           FROM repl.repl_tables)) OR ((class.relkind = ANY (ARRAY['r'::"char", 'p'::"char"])) AND (class.relpersistence <> 't'::"char") AND ((namespace.nspname, class.relname) IN ( SELECT (entry.schemaname)::name AS schemaname,
            (entry.tablename)::name AS tablename
           FROM repl.repl_tables entry
          WHERE ((entry.status)::text = 'WANTED'::text)))));
CREATE TABLE repl.repl_current_tables (
    relid oid NOT NULL,
    schemaname text NOT NULL,
    relname text NOT NULL,
    definition jsonb NOT NULL,
    partitions oid[] NOT NULL,
    clones oid[] DEFAULT '{}'::oid[] NOT NULL,
    types jsonb DEFAULT '{}'::jsonb NOT NULL
);
CREATE TABLE repl.repl_debug_table (
    repl_key bigint NOT NULL,
    line text NOT NULL
);
CREATE TABLE repl.repl_identities (
    relid oid NOT NULL,
    identity "char" NOT NULL,
    index oid
);
CREATE TABLE repl.repl_layouts (
    repl_key bigint NOT NULL,
    relid oid NOT NULL,
    schemaname text NOT NULL,
    tablename text NOT NULL,
    columns jsonb NOT NULL,
    key jsonb NOT NULL,
    deferred boolean NOT NULL
);
CREATE TABLE repl.repl_queue (
    repl_key bigint NOT NULL,
    trans_key xid8 DEFAULT pg_current_xact_id() NOT NULL,
    relid oid NOT NULL,
    db_action text NOT NULL,
    content text,
    oldcontent text
)
WITH (toast_tuple_target='8160', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='50000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='1000000');
ALTER TABLE ONLY repl.repl_queue ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE ONLY repl.repl_queue ALTER COLUMN oldcontent SET STORAGE EXTERNAL;
ALTER TABLE ONLY repl.repl_queue REPLICA IDENTITY FULL;
CREATE VIEW repl.repl_items AS
 SELECT queue.repl_key,
    (queue.trans_key)::text AS trans_key,
    ((current_database())::text COLLATE "C") AS dbid,
    layout.tablename,
    NULL::text AS guid,
        CASE (queue.db_action)::"char"
            WHEN 'I'::"char" THEN 'INSERT'::text
            WHEN 'U'::"char" THEN 'UPDATE'::text
            WHEN 'D'::"char" THEN 'DELETE'::text
            WHEN 'T'::"char" THEN 'TRUNCATE'::text
            WHEN 'N'::"char" THEN 'CREATE'::text
            WHEN 'A'::"char" THEN 'ALTER'::text
            WHEN 'X'::"char" THEN 'DROP'::text
            WHEN 'S'::"char" THEN 'STATEMENT'::text
            ELSE 'COMMIT'::text
        END AS db_action,
    NULL::text AS db_catalog,
    layout.schemaname AS db_schema,
        CASE
            WHEN ((queue.db_action)::"char" = ANY (ARRAY['N'::"char", 'A'::"char", 'X'::"char", 'S'::"char"])) THEN queue.content
            ELSE repl.repl_col2xml(layout.columns, queue.content)
        END AS content,
    repl.repl_col2xml(layout.columns, queue.oldcontent) AS oldcontent,
    '0.0'::text AS version
   FROM (repl.repl_queue queue
     LEFT JOIN LATERAL ( SELECT layouts.schemaname,
            layouts.tablename,
            layouts.columns
           FROM repl.repl_layouts layouts
          WHERE ((layouts.relid = queue.relid) AND (layouts.repl_key <= queue.repl_key))
          ORDER BY layouts.repl_key DESC
         LIMIT 1) layout ON (true));
CREATE TABLE repl.repl_log (
    only_row boolean DEFAULT true NOT NULL,
    slot name NOT NULL,
    lsn pg_lsn NOT NULL,
    ahead xid8[] DEFAULT '{}'::xid8[] NOT NULL,
    layouts bigint[] NOT NULL,
    phase text,
    shown pg_snapshot,
    ends pg_lsn,
    CONSTRAINT repl_log_only_row_check CHECK (only_row),
    CONSTRAINT repl_log_phase_check CHECK ((phase = ANY (ARRAY['queue'::text, 'slot'::text, 'over'::text])))
);
CREATE TABLE repl.repl_notes (
    trans_key xid8 DEFAULT pg_current_xact_id() NOT NULL,
    note text NOT NULL,
    relid oid NOT NULL,
    repl_key bigint
);
ALTER TABLE ONLY repl.repl_notes REPLICA IDENTITY FULL;
CREATE SEQUENCE repl.repl_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE repl.repl_settings (
    only_row boolean DEFAULT true NOT NULL,
    detection boolean NOT NULL,
    initial_content boolean NOT NULL,
    trusted_code text[] DEFAULT '{}'::text[] NOT NULL,
    by_log boolean DEFAULT false NOT NULL,
    max_row_bytes bigint DEFAULT 128000000 NOT NULL,
    CONSTRAINT repl_settings_only_row_check CHECK (only_row)
);
CREATE TABLE repl.repl_state (
    only_row boolean DEFAULT true NOT NULL,
    incarnation uuid DEFAULT gen_random_uuid() NOT NULL,
    segment bigint DEFAULT 0 NOT NULL,
    sha256 text DEFAULT ''::text NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    backend_pid integer,
    version integer DEFAULT 0 NOT NULL,
    store uuid,
    CONSTRAINT repl_state_only_row_check CHECK (only_row)
);
INSERT INTO repl.repl_current_tables VALUES (@t@, 'public', 't', '{"key": ["id"], "table": "t", "schema": "public", "columns": [{"name": "id", "type": "integer", "number": 1, "not_null": true}, {"name": "v", "type": "text", "number": 2, "not_null": false}], "constraints": [["t_pkey", "PRIMARY KEY (id)"]], "foreign_keys": []}', '{}', '{}', '{}');
INSERT INTO repl.repl_layouts VALUES (2, @t@, 'public', 't', '[["id", "integer", true, false], ["v", "text", false, false]]', '[0]', false);
INSERT INTO repl.repl_settings VALUES (true, true, true, '{}', false, 128000000);
INSERT INTO repl.repl_state VALUES (true, '0497c00c-f01e-4f28-9956-d1bdeec62601', 0, '', 1796055466560, 7975, 1, 'e4dd7253-3371-417f-94a3-815598d810d5');
INSERT INTO repl.repl_tables VALUES (' ', 'public', 't', 'IUD', 'OK', 1, 'RI_z_repl_capture_@t@', 0, @t@, 'full');
INSERT INTO repl.repl_wanted VALUES ('public', 't', false, false, 'IUD', NULL, 0, 'full');
SELECT pg_catalog.setval('repl.repl_seq', 2, true);
ALTER TABLE ONLY public.t
    ADD CONSTRAINT t_pkey PRIMARY KEY (id);
ALTER TABLE ONLY repl.repl_current_tables
    ADD CONSTRAINT repl_current_tables_pkey PRIMARY KEY (relid);
ALTER TABLE ONLY repl.repl_debug_table
    ADD CONSTRAINT repl_debug_table_pkey PRIMARY KEY (repl_key);
ALTER TABLE ONLY repl.repl_identities
    ADD CONSTRAINT repl_identities_pkey PRIMARY KEY (relid);
ALTER TABLE ONLY repl.repl_layouts
    ADD CONSTRAINT repl_layouts_pkey PRIMARY KEY (repl_key);
ALTER TABLE ONLY repl.repl_log
    ADD CONSTRAINT repl_log_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY repl.repl_settings
    ADD CONSTRAINT repl_settings_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY repl.repl_state
    ADD CONSTRAINT repl_state_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY repl.repl_tables
    ADD CONSTRAINT repl_tables_pkey PRIMARY KEY (catalogname, schemaname, tablename);
ALTER TABLE ONLY repl.repl_wanted
    ADD CONSTRAINT repl_wanted_pkey PRIMARY KEY (schemaname, tablename, wildcard);
CREATE UNIQUE INDEX repl_notes_trans_key_idx ON repl.repl_notes USING btree (trans_key) WHERE ((note = 'waits'::text) AND (repl_key IS NULL));
CREATE TRIGGER "RI_z_repl_capture_@t@" AFTER INSERT OR DELETE OR UPDATE ON public.t FOR EACH ROW EXECUTE FUNCTION repl.repl_capture_@t@();
ALTER TABLE public.t ENABLE ALWAYS TRIGGER "RI_z_repl_capture_@t@";
CREATE TRIGGER "RI_z_repl_capture_@t@_t" AFTER TRUNCATE ON public.t FOR EACH STATEMENT EXECUTE FUNCTION repl.repl_capture_@t@();
ALTER TABLE public.t ENABLE ALWAYS TRIGGER "RI_z_repl_capture_@t@_t";
CREATE CONSTRAINT TRIGGER mark AFTER INSERT ON repl.repl_notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.note = 'waits'::text)) EXECUTE FUNCTION repl.repl_mark_function();
ALTER TABLE repl.repl_notes ENABLE ALWAYS TRIGGER mark;
CREATE TRIGGER sluice_guard BEFORE DELETE OR TRUNCATE ON repl.repl_queue FOR EACH STATEMENT WHEN ((current_setting('sluice.purge'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION repl.repl_guard();
ALTER TABLE repl.repl_queue ENABLE ALWAYS TRIGGER sluice_guard;
CREATE TRIGGER sluice_registering BEFORE INSERT OR UPDATE ON repl.repl_tables FOR EACH ROW EXECUTE FUNCTION repl.repl_registering();
CREATE TRIGGER sluice_registering_after AFTER INSERT ON repl.repl_tables FOR EACH ROW EXECUTE FUNCTION repl.repl_registering();
CREATE EVENT TRIGGER "repl.repl_altered" ON ddl_command_end
         WHEN TAG IN ('ALTER TABLE', 'ALTER SCHEMA', 'ALTER TYPE', 'ALTER DOMAIN', 'ALTER INDEX', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'CREATE SCHEMA', 'CREATE TRIGGER')
   EXECUTE FUNCTION repl.repl_altered();
ALTER EVENT TRIGGER "repl.repl_altered" ENABLE ALWAYS;
CREATE EVENT TRIGGER "repl.repl_dropped" ON sql_drop
   EXECUTE FUNCTION repl.repl_dropped();
ALTER EVENT TRIGGER "repl.repl_dropped" ENABLE ALWAYS;
CREATE EVENT TRIGGER "repl.repl_dropper" ON ddl_command_start
         WHEN TAG IN ('DROP TABLE')
   EXECUTE FUNCTION repl.repl_dropper();
ALTER EVENT TRIGGER "repl.repl_dropper" ENABLE ALWAYS;
CREATE EVENT TRIGGER "repl.repl_dropping" ON ddl_command_start
         WHEN TAG IN ('DROP TABLE')
   EXECUTE FUNCTION repl.repl_dropping();
ALTER EVENT TRIGGER "repl.repl_dropping" ENABLE ALWAYS;
CREATE EVENT TRIGGER "repl.repl_kept" ON ddl_command_end
         WHEN TAG IN ('DROP TABLE')
   EXECUTE FUNCTION repl.repl_kept();
ALTER EVENT TRIGGER "repl.repl_kept" ENABLE ALWAYS;
CREATE EVENT TRIGGER "repl.repl_rewritten" ON table_rewrite
   EXECUTE FUNCTION repl.repl_rewritten();
ALTER EVENT TRIGGER "repl.repl_rewritten" ENABLE ALWAYS;
