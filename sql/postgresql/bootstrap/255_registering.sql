-- Runs when somebody adds a table to the registry: what is not given is filled in, and the CREATE is put into ITEMS (the
-- guide's Table 2.2). The publisher takes the entry up: triggers, then OK. Bootstrap and {adopt} do both at once.
CREATE OR REPLACE FUNCTION {registering}() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $registering$
BEGIN
    IF NEW.status <> 'CREATING' OR {noted}('installing') <> '{{ }}' THEN
        RETURN NEW;
    END IF;
    IF TG_WHEN = 'AFTER' THEN
        -- The command is read by the table's columns (R7).
        PERFORM {record_layout}(NEW.relid);
        PERFORM {command}(
            'N', NEW.relid, NULL, {described}(NEW.relid, NULL, {table_definition}(NEW.relid), false), NULL);
        RETURN NEW;
    END IF;
    SELECT living.relid INTO NEW.relid FROM ({eligible}) AS living
    WHERE (living.schemaname, living.relname) = (NEW.schemaname, NEW.tablename);
    IF NEW.relid IS NULL THEN
        RAISE EXCEPTION 'there is no table %.% that can be watched', NEW.schemaname, NEW.tablename;
    END IF;
    NEW.repl_key := coalesce(NEW.repl_key, nextval({seq_name}::regclass));
    NEW.trigger_name := coalesce(NEW.trigger_name, {trigger_name} || NEW.relid);
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = NEW.relid
               AND tgname IN (NEW.trigger_name, NEW.trigger_name || '_t', 'W_' || NEW.trigger_name)) THEN
        RAISE EXCEPTION 'there is a trigger % already', NEW.trigger_name;
    END IF;
    RETURN NEW;
END
$registering$
