-- Generates the trigger function of a table, and returns its name. An image must not depend on who writes, nor on how that
-- session prints dates, floats or bytes: SECURITY DEFINER, and the settings that matter to this table's columns pinned
-- (R7). A pin costs the application about a microsecond a row, so the others are left out, where event triggers see each
-- new column; all that the body names is qualified, so it needs no search_path of its own.
-- A row of more than 60 kB may be printed as more than the server can keep: {long_images} sees to that.
-- With old_images = 'key' an update has an old image only where it changed the primary key, bit by bit. That names columns,
-- so it is left to tables whose DDL is seen, and should one be gone all the same, the image is there and nobody's statement
-- fails (R9). A key that is checked at commit needs every old image.
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
                  string_agg(format('NEW.%I', a.attname), ', ' ORDER BY a.attnum)), entry.old_images = 'key' INTO keys, by_key
    FROM {tables} AS entry
    JOIN pg_constraint AS c ON c.conrelid = entry.relid AND c.contype = 'p'
    JOIN pg_attribute AS a ON a.attrelid = entry.relid AND a.attnum = ANY (c.conkey)
    WHERE entry.relid = relation AND seen
      AND NOT EXISTS (SELECT FROM {checked_late}(relation::oid))
    GROUP BY entry.relid, entry.old_images;
    by_key := coalesce(by_key, false);
    long := format($long$
        SELECT made.content, made.oldcontent INTO captured.content, captured.oldcontent
        FROM {long_images}('%s'::pg_catalog.oid, NEW::pg_catalog.record, (%s)::pg_catalog.record, key_stays::pg_catalog.bool) AS made;
        IF content IS NULL AND oldcontent IS NULL THEN
            RETURN nothing;
        END IF;$long$, relation, CASE WHEN by_key THEN 'CASE WHEN key_stays IS NOT TRUE THEN OLD END' ELSE 'OLD' END);
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER %s AS %L', function, pinned, $body$
<<captured>>
DECLARE
    content    pg_catalog.text;
    oldcontent pg_catalog.text;
    key_stays  pg_catalog.bool;
    nothing    pg_catalog.bool; -- NULL, as an expression, would be looked at anew in each transaction.
BEGIN
    IF pg_catalog.pg_column_size(NEW) OPERATOR(pg_catalog.>) 60000$body$ || CASE WHEN by_key THEN '' ELSE $full$
        OR pg_catalog.pg_column_size(OLD) OPERATOR(pg_catalog.>) 60000$full$ END || $body$
    THEN$body$ || coalesce(format($key$
        BEGIN
            key_stays := %s;
        EXCEPTION WHEN OTHERS THEN
        END;$key$, keys), '') || long || $body$
    ELSE
        -- Apart from the INSERT: in a large statement how to print a row is then looked up once, not for each row. And not
        -- NEW::text, which would run a cast that the table's owner made. What an event lacks, OLD or NEW, is NULL.
        content := pg_catalog.textin(pg_catalog.record_out(NEW));$body$ || CASE WHEN by_key THEN format($key$
        BEGIN
            oldcontent := CASE WHEN NOT %s THEN pg_catalog.textin(pg_catalog.record_out(OLD)) END;
        EXCEPTION WHEN OTHERS THEN%s
        END;$key$, keys, long) ELSE $full$
        oldcontent := pg_catalog.textin(pg_catalog.record_out(OLD));$full$ END || $body$
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
