-- One command at its place in the stream, unless they are switched off. The statement is for information, and not for
-- passwords that stand near it.
CREATE OR REPLACE FUNCTION {command}(action "char", relation oid, before jsonb, after jsonb, statement text)
RETURNS void LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $command$
    INSERT INTO {queue} (repl_key, relid, db_action, content)
    SELECT nextval({seq_name}::regclass), relation, action, jsonb_strip_nulls(jsonb_build_object(
        'before', before,
        'after', after,
        'statement', CASE WHEN statement !~* 'password' THEN left(statement, 10000) END))::text
    FROM {settings}
    WHERE detection
$command$
