-- The watched tables: their columns when they were recorded, by which rows of the log are read; and the replica identity
-- that each had before it became FULL.
CREATE TABLE IF NOT EXISTS {tables} (
    schemaname text   NOT NULL,
    tablename  text   NOT NULL,
    actions    text   NOT NULL,
    relid      oid    NOT NULL,
    layout     bigint NOT NULL UNIQUE,
    described  text   NOT NULL,
    identity   text   NOT NULL,
    PRIMARY KEY (schemaname, tablename)
)
