-- Lists a table that the configuration names, and that is not there, in the registry: it is watched when it is made. Which
-- number its trigger's name ends with is known then.
CREATE OR REPLACE FUNCTION {list_wanted}(schema text, name text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $list_wanted$
    INSERT INTO {tables} (schemaname, tablename, actions, status, repl_key, trigger_name, debug, old_images)
    SELECT entry.schemaname, entry.tablename, entry.actions, 'WANTED', nextval({seq_name}::regclass),
           coalesce(entry.trigger_name, {trigger_name}), entry.debug, entry.old_images
    FROM {wanted} AS entry
    WHERE (entry.schemaname, entry.tablename) = (schema, name) AND NOT (entry.wildcard OR entry.excluded)
    ON CONFLICT DO NOTHING
$list_wanted$
