-- Runs before a DROP TABLE: partitions that it names, in the client's statement or in one that a function runs, are locked
-- as it will lock them, and their rows put into the stream as deletes, since afterwards nobody can read them (R9). If the
-- statement turns out to leave one alone, the event at its end takes that back.
CREATE OR REPLACE FUNCTION {dropping}() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $dropping$
DECLARE
    said  text;
    leaf  record;
    began bigint := nextval({seq_name}::regclass);
BEGIN
    GET DIAGNOSTICS said = PG_CONTEXT;
    said := (SELECT string_agg(part[1], E'\n')
             FROM regexp_matches(current_query() || E'\n' || said, 'drop[[:space:]]+table[^;]*', 'gi') AS part);
    FOR leaf IN
        SELECT DISTINCT below.oid::regclass AS relid, known.relid AS root
        FROM {current_tables} AS known
        JOIN {tables} AS entry ON entry.relid = known.relid AND coalesce(entry.actions, 'IUD') LIKE '%D%'
        CROSS JOIN LATERAL {tree}(known.relid::oid) AS tree (relid)
        JOIN pg_class AS named ON named.oid = tree.relid AND named.oid <> known.relid
        JOIN pg_namespace AS namespace ON namespace.oid = named.relnamespace
        CROSS JOIN LATERAL {tree}(named.oid::oid) AS under (relid)
        JOIN pg_class AS below ON below.oid = under.relid AND below.relkind = 'r'
        WHERE known.partitions <> '{{ }}'
          AND (pg_has_role(current_setting('sluice.dropper', true), named.relowner, 'USAGE')
               OR pg_has_role(current_setting('sluice.dropper', true), namespace.nspowner, 'USAGE'))
          AND said ~* ('(^|[^[:alnum:]_$])' || regexp_replace(named.relname, '([^[:alnum:]])', E'\\\\\\1', 'g')
                       || '($|[^[:alnum:]_$])')
        ORDER BY 1
    LOOP
        EXECUTE format('LOCK TABLE ONLY %s, %s IN ACCESS EXCLUSIVE MODE', leaf.root::regclass, leaf.relid);
        INSERT INTO {notes} (note, relid, repl_key) VALUES ('dropping', leaf.relid, began);
        PERFORM {capture_rows}(leaf.relid::oid, 'D'::"char", leaf.root::oid);
    END LOOP;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'rows of a partition could not be recorded for replication: %', SQLERRM;
END
$dropping$
