-- Takes the triggers off a table, and off what are its partitions now.
CREATE OR REPLACE FUNCTION {release_table}(relation oid, trigger_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $release_table$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT tgrelid::regclass AS target, tgname
        FROM pg_trigger
        JOIN pg_proc AS function ON function.oid = tgfoid
        JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace AND namespace.nspname = {schema_name}
        WHERE tgrelid = ANY ({partitions}(relation::oid) || relation)
          AND tgparentid = 0
          AND (function.proname = {capture_name} || relation
               OR function.oid IN ({mark_function_name}::regprocedure, {truncating_name}::regprocedure))
          AND tgname = ANY (ARRAY[trigger_name, trigger_name || '_t', 'W_' || trigger_name, trigger_name || '_b',
                                  trigger_name || '_e'])
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', found.tgname, found.target);
    END LOOP;
    PERFORM {release_log}(relation::oid);
END
$release_table$
