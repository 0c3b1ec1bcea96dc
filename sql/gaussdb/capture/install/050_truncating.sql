-- With the rights of our role, since who empties a table may not write here.
CREATE OR REPLACE FUNCTION {truncating}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $truncating$
BEGIN
    INSERT INTO {queue} (schemaname, tablename) VALUES (TG_TABLE_SCHEMA::text, TG_TABLE_NAME::text);
    RETURN NULL;
END
$truncating$
