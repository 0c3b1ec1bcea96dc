-- Whether the role of this session may make event triggers, which clouds let some do who are no superusers: what is tried can never
-- be made, and leaves no error in the server's log. Known until the session ends.
DO $may_watch$
BEGIN
    CREATE EVENT TRIGGER {event_trigger} ON ddl_command_start EXECUTE FUNCTION pg_catalog.version();
EXCEPTION
    -- What comes after the question whether the role may.
    WHEN invalid_object_definition OR undefined_function OR duplicate_object THEN
        PERFORM pg_catalog.set_config('sluice.may_watch_ddl', 'yes', false);
    WHEN OTHERS THEN
        PERFORM pg_catalog.set_config('sluice.may_watch_ddl', 'no', false);
END
$may_watch$
