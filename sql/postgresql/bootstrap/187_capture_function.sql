-- Generates the trigger function of a table, and returns its name. An image must not depend on who writes, nor on how that
-- session prints dates, floats or bytes: SECURITY DEFINER, and the settings that matter to this table's columns pinned
-- (R7). A pin costs the application about a microsecond a row, so the others are left out, where event triggers see each
-- new column; all that the body names is qualified, so it needs no search_path of its own.
CREATE OR REPLACE FUNCTION {capture_function}(relation oid, debug integer) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $capture_function$
DECLARE
    function text := format('%I.%I', {schema_name}, {capture_name} || relation);
    pinned   text;
BEGIN
    SELECT string_agg(format('SET %s = %s', setting, value), ' ') INTO pinned
    FROM (VALUES
        ('search_path', 'pg_catalog, pg_temp'),
        ('datestyle', '''ISO, YMD'''),
        ('intervalstyle', '''postgres'''),
        ('timezone', '''UTC'''),
        ('extra_float_digits', '1'),
        ('bytea_output', '''hex'''),
        ('lc_monetary', '''C''')) AS pin (setting, value)
    WHERE setting IN (SELECT {printed_under}(relation))
       OR NOT EXISTS (SELECT FROM pg_event_trigger WHERE evtfoid = to_regproc({altered_name}) AND evtenabled <> 'D');
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER %s AS %L', function, pinned, $body$
DECLARE
    -- Apart from the INSERT: in a large statement how to print a row is then looked up once, not for each row. And not
    -- NEW::text, which would run a cast that the table's owner made. What an event lacks, OLD or NEW, is NULL.
    content    pg_catalog.text := pg_catalog.textin(pg_catalog.record_out(NEW));
    oldcontent pg_catalog.text := pg_catalog.textin(pg_catalog.record_out(OLD));
BEGIN
    INSERT INTO {queue} (repl_key, relid, db_action, content, oldcontent)
    VALUES (pg_catalog.nextval({seq_name}::pg_catalog.regclass), TG_RELID, TG_OP::pg_catalog."char", content, oldcontent);$body$
        || CASE WHEN debug > 0 THEN $debug$
    INSERT INTO {debug_table} (repl_key, line)
    VALUES (pg_catalog.nextval({seq_name}::pg_catalog.regclass),
            pg_catalog.format('%s on %s.%s by transaction %s',
                              TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME, pg_catalog.pg_current_xact_id()));$debug$
        ELSE '' END || $end$
    RETURN NULL;
END
$end$);
    -- Also where the DDL of somebody else has it made, and the event trigger's function belongs to another role.
    EXECUTE format('ALTER FUNCTION %s() OWNER TO %s', function,
                   (SELECT relowner::regrole FROM pg_class WHERE oid = {tables_name}::regclass));
    RETURN function;
END
$capture_function$
