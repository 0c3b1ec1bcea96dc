-- Generated for one watched table. SECURITY DEFINER and the pinned settings: the image must not depend on who writes,
-- nor on how that session prints dates, floats or bytes (R7).
CREATE OR REPLACE FUNCTION {function}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
SET timezone = 'UTC'
SET extra_float_digits = 1
SET bytea_output = 'hex'
SET lc_monetary = 'C'
AS $capture$
BEGIN
    CASE TG_OP
    WHEN 'UPDATE' THEN
        INSERT INTO {queue} (repl_key, relid, db_action, content, oldcontent)
        VALUES (nextval({seq_name}::regclass), TG_RELID, 'U', NEW::text, OLD::text);
    WHEN 'INSERT' THEN
        INSERT INTO {queue} (repl_key, relid, db_action, content)
        VALUES (nextval({seq_name}::regclass), TG_RELID, 'I', NEW::text);
    WHEN 'DELETE' THEN
        INSERT INTO {queue} (repl_key, relid, db_action, oldcontent)
        VALUES (nextval({seq_name}::regclass), TG_RELID, 'D', OLD::text);
    ELSE
        INSERT INTO {queue} (repl_key, relid, db_action)
        VALUES (nextval({seq_name}::regclass), TG_RELID, 'T');
    END CASE;
    {debug}
    RETURN NULL;
END
$capture$
