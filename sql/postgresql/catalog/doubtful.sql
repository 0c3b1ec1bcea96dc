-- What expressions call that is not let through by itself, by the trees that this server has made of them, and nothing else:
-- see "Definitions that travel" in include/docs/security.md. A tree names a function or an operator by its number, and shows
-- values as bytes, so that no value is taken for one. What stands in none of these lists is told, also a kind of node that is
-- new to us.
WITH RECURSIVE printed (name, tree) AS (
    SELECT conname, conbin::text FROM pg_constraint
    WHERE contype = 'c' AND (conrelid = to_regclass({model}) OR contypid = ANY ({domains}::text[]::regtype[]))
    UNION ALL
    SELECT typname, typdefaultbin::text FROM pg_type WHERE oid = ANY ({domains}::text[]::regtype[])
), operators (name, oid) AS (
    SELECT name, number::oid
    FROM printed
    CROSS JOIN regexp_matches(tree, ':opnos? (?:\(o )?([\d ]+)', 'g') AS found
    CROSS JOIN regexp_split_to_table(rtrim(found[1]), ' +') AS number
), called (name, function) AS (
    SELECT name, found[1]::oid FROM printed, regexp_matches(tree, ':\w*(?:funcid|fnoid) (\d+)', 'g') AS found
    UNION
    SELECT name, oprcode::oid FROM operators LEFT JOIN pg_operator AS operator USING (oid)
), typed (name, type, tree) AS (
    SELECT name, found[1]::oid, tree FROM printed, regexp_matches(tree, ':\w*typ(?!mod)\w* (\d+)', 'gi') AS found
), as_json (name, type) AS (
    -- What is written as JSON, down to what its types are made of.
    SELECT name, type
    FROM typed
    WHERE tree ~ '[ (]\{{JSONCONSTRUCTOREXPR' OR EXISTS (
        SELECT FROM called JOIN pg_proc ON pg_proc.oid = called.function
        WHERE called.name = typed.name AND proname ~ '(^|_)to_jsonb?$|^jsonb?_build_')
    UNION
    SELECT name, part.type
    FROM as_json
    JOIN pg_type AS whole ON whole.oid = as_json.type
    CROSS JOIN LATERAL (
        SELECT whole.typelem
        UNION ALL SELECT whole.typbasetype
        UNION ALL SELECT atttypid FROM pg_attribute WHERE attrelid = whole.typrelid AND attnum > 0 AND NOT attisdropped
    ) AS part (type)
    WHERE part.type <> 0
), run (name, function) AS (
    SELECT name, function FROM called
    UNION
    -- A cast to it is looked up, and called, when a value of such a type is written.
    SELECT as_json.name, castfunc::oid
    FROM as_json
    JOIN pg_cast ON castsource = as_json.type AND casttarget IN ('json'::regtype, 'jsonb'::regtype)
), doubted (name, what) AS (
    SELECT run.name, coalesce(format('%I.%I', namespace.nspname, function.proname)
        || CASE WHEN trusted.so THEN format(' of %I', pg_get_userbyid(function.proowner)) ELSE '' END, 'an operator without a function')
    FROM run
    LEFT JOIN pg_proc AS function ON function.oid = run.function
    LEFT JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
    CROSS JOIN LATERAL (
        SELECT EXISTS (
            SELECT FROM unnest({schemas}::text[], {functions}::text[]) AS named (schema, function_name)
            WHERE named.schema = namespace.nspname AND named.function_name = function.proname)
    ) AS trusted (so)
    WHERE run.function IS DISTINCT FROM 0
      AND NOT coalesce({harmless}, false)
      -- A name is no function: others may make more of it, where they may make things at all. Meant are functions of ours, of
      -- superusers, and of the schema's owner, who could put another in its place.
      AND NOT coalesce(
          trusted.so AND (pg_has_role(function.proowner, current_user, 'MEMBER') OR function.proowner = CASE
              WHEN pg_get_userbyid(namespace.nspowner) <> 'pg_database_owner' THEN namespace.nspowner
              ELSE (SELECT datdba FROM pg_database WHERE datname = current_database()) END), false)
    UNION
    -- The definition is made by its text, later: by then its owner may have put another operator in the place of this one.
    SELECT name, format('the operator %I.%s of %I', namespace.nspname, oprname, pg_get_userbyid(oprowner))
    FROM operators
    JOIN pg_operator AS operator USING (oid)
    JOIN pg_namespace AS namespace ON namespace.oid = oprnamespace
    WHERE operator.oid >= 16384 AND NOT pg_has_role(oprowner, current_user, 'MEMBER')
    UNION
    -- So may the owner of a type with its casts, also where there is none now, and with the type.
    SELECT name, format('casts of the type %I.%I of %I', namespace.nspname, typname, pg_get_userbyid(typowner))
    FROM (SELECT name, type FROM typed UNION SELECT name, type FROM as_json) AS written
    JOIN pg_type ON pg_type.oid = written.type
    JOIN pg_namespace AS namespace ON namespace.oid = typnamespace
    WHERE NOT pg_has_role(typowner, current_user, 'MEMBER')
    UNION
    SELECT name, 'the node ' || found[1]
    FROM printed, regexp_matches(tree, '(?:^|[ (])\{{(\w+)', 'g') AS found
    WHERE found[1] <> ALL (ARRAY[
        'VAR', 'CONST', 'FUNCEXPR', 'NAMEDARGEXPR', 'OPEXPR', 'DISTINCTEXPR', 'NULLIFEXPR', 'SCALARARRAYOPEXPR', 'BOOLEXPR',
        'SUBSCRIPTINGREF', 'FIELDSELECT', 'RELABELTYPE', 'COERCEVIAIO', 'ARRAYCOERCEEXPR', 'CONVERTROWTYPEEXPR', 'COLLATEEXPR',
        'CASEEXPR', 'CASEWHEN', 'CASETESTEXPR', 'ARRAYEXPR', 'ROWEXPR', 'ROWCOMPAREEXPR', 'COALESCEEXPR', 'MINMAXEXPR',
        'SQLVALUEFUNCTION', 'NULLTEST', 'BOOLEANTEST', 'COERCETODOMAIN', 'COERCETODOMAINVALUE', 'XMLEXPR', 'JSONFORMAT',
        'JSONRETURNING', 'JSONVALUEEXPR', 'JSONCONSTRUCTOREXPR', 'JSONISPREDICATE', 'JSONBEHAVIOR', 'JSONEXPR'])
)
SELECT name, array_agg(what ORDER BY what) FROM doubted GROUP BY name
