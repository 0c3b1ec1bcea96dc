-- Generates the trigger function of a table, and returns its name. An image must not depend on who writes, nor on how that
-- session prints dates, floats or bytes: SECURITY DEFINER, and the settings that matter to this table's columns pinned
-- (R7). A pin costs the application about a microsecond a row, so the others are left out, where event triggers see each
-- new column; all that the body names is qualified, so it needs no search_path of its own.
-- A row of more than 60 kB may be printed as more than the server can keep, and a short one as more than may be published:
-- {long_images} sees to both; no source allows less than 1 MB.
-- `rekeyed` says whether an update changed the primary key, bit by bit (see {capture_late}). That names columns, and should one
-- be gone, unseen, nobody's statement fails (R9). With old_images = 'key' such an update alone has an old image: that is left to
-- tables whose DDL is seen, and if a column is gone all the same, the image is there. A key that is checked at commit needs
-- every old image.
CREATE OR REPLACE FUNCTION {capture_function}(relation oid, debug integer) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $capture_function$
DECLARE
    function text := format('%I.%I', {schema_name}, {capture_name} || relation);
    seen     boolean := EXISTS (SELECT FROM pg_event_trigger WHERE evtfoid = to_regprocedure({altered_name}) AND evtenabled <> 'D');
    every    boolean := NOT seen OR 'search_path' IN (SELECT {printed_under}(relation::oid));
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
    WHERE every OR setting IN (SELECT {printed_under}(relation::oid));
    SELECT format('pg_catalog.record_image_eq(ROW(%s), ROW(%s))',
                  string_agg(format('OLD.%I', a.attname), ', ' ORDER BY a.attnum),
                  string_agg(format('NEW.%I', a.attname), ', ' ORDER BY a.attnum)),
           seen AND EXISTS (SELECT FROM {tables} AS entry WHERE entry.relid = relation AND entry.old_images = 'key')
    INTO keys, by_key
    FROM pg_constraint AS c
    JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
    WHERE c.conrelid = relation AND c.contype = 'p' AND NOT EXISTS (SELECT FROM {checked_late}(relation::oid))
    GROUP BY c.conrelid;
    by_key := coalesce(by_key, false);
    long := format($long$
        SELECT made.content, made.oldcontent INTO captured.content, captured.oldcontent
        FROM {long_images}('%s'::pg_catalog.oid, NEW::pg_catalog.record, (%s)::pg_catalog.record, (NOT rekeyed)::pg_catalog.bool) AS made;
        IF content IS NULL AND oldcontent IS NULL THEN
            INSERT INTO {queue} (repl_key, relid, db_action)
            VALUES (pg_catalog.nextval({seq_name}::pg_catalog.regclass), TG_RELID, 'LONG');
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
    INSERT INTO {queue} (repl_key, relid, db_action, content, oldcontent)
    VALUES (pg_catalog.nextval({seq_name}::pg_catalog.regclass), TG_RELID, TG_OP, content, oldcontent);$body$
        || {capture_late}(relation::oid, seen::boolean)
        || CASE WHEN debug > 0 THEN $debug$
    INSERT INTO {debug_table} (repl_key, line)
    VALUES (pg_catalog.nextval({seq_name}::pg_catalog.regclass),
            pg_catalog.format('%s on %s.%s by transaction %s',
                              TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME, pg_catalog.pg_current_xact_id()));$debug$
        ELSE '' END || $end$
    RETURN nothing;
END
$end$);
    -- Also where the DDL of somebody else has it made, and the event trigger's function belongs to another role.
    EXECUTE format('ALTER FUNCTION %s() OWNER TO %s', function,
                   (SELECT relowner::regrole FROM pg_class WHERE oid = {tables_name}::regclass));
    RETURN function;
END
$capture_function$
