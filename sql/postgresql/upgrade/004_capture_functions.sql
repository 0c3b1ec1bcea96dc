-- Trigger functions that were generated before named a type without its schema, which whoever writes a row could make.
DO $upgrade$
DECLARE
    made oid;
BEGIN
    FOR made IN
        SELECT function.oid FROM pg_catalog.pg_proc AS function
        WHERE function.pronamespace = pg_catalog.quote_ident({schema_name})::pg_catalog.regnamespace
          AND pg_catalog.starts_with(function.proname, {capture_name})
          AND pg_catalog.substr(function.proname, pg_catalog.length({capture_name}) + 1) ~ '^[0-9]+$'
    LOOP
        EXECUTE pg_catalog.regexp_replace(pg_catalog.pg_get_functiondef(made), 'content( +)text :=', 'content\1pg_catalog.text :=', 'g');
    END LOOP;
END
$upgrade$
