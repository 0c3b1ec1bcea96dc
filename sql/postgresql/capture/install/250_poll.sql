-- What an event trigger would have done, done later: the caller holds the table against writers, and calls this when it is
-- not what it was. Images written since the change are told from older ones by how many fields they have. Returns false,
-- and changes nothing, where that does not tell them apart (R7). Of rows that were written by another key, or by one checked at
-- another time, nobody can tell which is which; values of a new column may have been computed. Then the whole table follows.
CREATE OR REPLACE FUNCTION {poll}(relation oid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $poll$
DECLARE
    known  {current_tables};
    now    jsonb := {table_definition}(relation::oid);
    parts  oid[];
    leaf   oid;
    begins jsonb := '{{ }}';
    told   record;
    again  boolean;
    keys   bigint;
    single boolean;
    listed bigint;
BEGIN
    SELECT * INTO known FROM {current_tables} AS was WHERE was.relid = relation;
    IF known IS NULL THEN
        PERFORM {adopt}(relation::oid, NULL::text);
        RETURN true;
    ELSIF now IS NULL THEN
        IF EXISTS (SELECT FROM pg_class WHERE oid = relation) THEN
            PERFORM {release_table}(relation::oid, entry.trigger_name::text) FROM {tables} AS entry WHERE entry.relid = relation;
        END IF;
        -- Rows that were written since its last column went have images that list nothing, and nobody could read. That may
        -- have been before it was dropped. Of one column, NULL is printed so, too: what comes last is given up, for a slave
        -- that cannot take a NULL would stop there. A column that parts a table cannot go.
        single := jsonb_array_length(known.definition -> 'columns') = 1;
        SELECT max(change.repl_key) INTO listed FROM {queue} AS change
        WHERE single AND change.relid = relation AND (change.content <> '()' OR change.oldcontent <> '()');
        IF NOT single OR cardinality(known.partitions) = 0 THEN
            PERFORM set_config('sluice.purge', 'on', true);
            DELETE FROM {queue} AS change
            WHERE change.relid = ANY (known.partitions || relation) AND '()' IN (change.content, change.oldcontent)
              AND change.repl_key > coalesce(listed, 0);
            PERFORM set_config('sluice.purge', '', true);
        END IF;
        PERFORM {forget}(relation::oid, NULL::text);
        RETURN true;
    END IF;
    parts := {partitions}(relation::oid);
    FOREACH leaf IN ARRAY parts || relation LOOP
        SELECT * INTO told FROM {first_image}(leaf::oid, relation::oid, known.definition::jsonb, now::jsonb);
        IF NOT told.certain THEN
            RETURN false;
        END IF;
        begins := begins || jsonb_build_object(leaf::text, told.first);
    END LOOP;
    SELECT bool_or(CASE WHEN old.type IS NOT NULL THEN old.type <> new.type
                        ELSE NOT a.atthasmissing AND (new.not_null OR coalesce(new."default", new.identity) IS NOT NULL) END)
    INTO again
    FROM jsonb_to_recordset(now -> 'columns') AS new (number int, type text, not_null boolean, "default" text, identity text)
    JOIN pg_attribute AS a ON a.attrelid = relation AND a.attnum = new.number
    LEFT JOIN jsonb_to_recordset(known.definition -> 'columns') AS old (number int, type text) USING (number);
    SELECT count(DISTINCT ARRAY(
        SELECT c ->> 'number'
        FROM jsonb_array_elements_text(side -> 'key') WITH ORDINALITY AS part (name, place)
        JOIN jsonb_array_elements(side -> 'columns') AS c ON c ->> 'name' = part.name
        ORDER BY part.place
    ) || (side -> 'constraints' -> 0 ->> 1 LIKE '%DEFERRABLE%')::text) INTO keys
    FROM unnest(ARRAY[known.definition, now]) AS side;
    again := again OR NOT known.partitions <@ parts OR NOT known.clones <@ {clones}(relation::oid)
        OR keys > 1 AND EXISTS (SELECT FROM {queue} AS change WHERE change.relid = ANY (parts || relation));
    FOR leaf IN SELECT unnest(parts) EXCEPT SELECT unnest(known.partitions) LOOP
        again := again OR pg_relation_size(leaf) > 0;
    END LOOP;
    -- Rows that went with a partition go with all others, where the whole table can follow.
    UPDATE {tables} AS entry SET status = 'LOST'
    WHERE entry.relid = relation AND entry.status = 'OK' AND NOT known.partitions <@ parts
      AND entry.actions LIKE '%D%' AND entry.actions NOT LIKE '%U%';
    PERFORM {note}('dropping'::text, known.partitions::oid[]);
    PERFORM {note}('rewritten'::text, (CASE WHEN again THEN ARRAY[relation] ELSE '{{ }}' END)::oid[]);
    PERFORM {follow}(relation::oid, NULL::text);
    PERFORM {note}('dropping'::text, '{{ }}'::oid[]);
    PERFORM {capture_again}(relation::oid);
    PERFORM {note}('rewritten'::text, '{{ }}'::oid[]);
    UPDATE {layouts} AS layout SET repl_key = (begins ->> layout.relid::text)::bigint
    WHERE begins ->> layout.relid::text IS NOT NULL
      AND layout.repl_key = (SELECT max(newest.repl_key) FROM {layouts} AS newest WHERE newest.relid = layout.relid);
    RETURN true;
END
$poll$
