-- Runs when somebody adds a table to the registry: what is not given is filled in, and the CREATE is put into ITEMS (the
-- guide's Table 2.2). The publisher takes the entry up: triggers, then OK. Bootstrap and {adopt} do both at once. A table
-- that is not there is WANTED: {adopt} watches it when it is made. What no trigger would fire on, or in the right order
-- (R1), is refused, also when an entry is changed; so is another spelling of a table that is there, unless who adds it says
-- that it waits; a trigger keeps its name, since nobody would drop the one that bears the old one.
CREATE OR REPLACE FUNCTION {registering}() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $registering$
DECLARE
    alike record;
BEGIN
    IF {noted}('installing'::text) <> '{{ }}' OR TG_OP = 'INSERT' AND NEW.status NOT IN ('CREATING', 'WANTED') THEN
        RETURN NEW;
    END IF;
    IF TG_WHEN = 'AFTER' AND NEW.relid IS NULL THEN
        RETURN NEW;
    ELSIF TG_WHEN = 'AFTER' THEN
        -- The command is read by the table's columns (R7).
        PERFORM {record_layout}(NEW.relid::oid);
        PERFORM {command}(
            'N'::"char", NEW.relid::oid, NULL::jsonb,
            {described}(NEW.relid::oid, NULL::jsonb, {table_definition}(NEW.relid::oid)::jsonb, false)::jsonb, NULL::text);
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
    SELECT living.relid INTO NEW.relid FROM ({eligible}) AS living
    WHERE (living.schemaname, living.relname) = (NEW.schemaname, NEW.tablename);
    SELECT living.schemaname, living.relname INTO alike FROM ({eligible}) AS living
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
    NEW.repl_key := coalesce(NEW.repl_key, nextval({seq_name}::regclass));
    NEW.trigger_name := coalesce(NEW.trigger_name, concat({trigger_name}, NEW.relid));
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
$registering$
