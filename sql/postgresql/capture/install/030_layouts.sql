-- The columns that images of a table list, from repl_key on: an ALTER TABLE waits for every writer of the table, so its
-- key lies between those of the images before and after it (R7).
CREATE TABLE IF NOT EXISTS {layouts} (
    repl_key   bigint PRIMARY KEY,
    relid      oid     NOT NULL,
    schemaname text    NOT NULL,
    tablename  text    NOT NULL,
    columns    jsonb   NOT NULL,
    key        jsonb   NOT NULL,
    deferred   boolean NOT NULL
)
