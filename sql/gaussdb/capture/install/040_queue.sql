-- Tables that were emptied: the decoding tells of rows alone. A row of this table stands in the log at the place of the TRUNCATE.
CREATE TABLE IF NOT EXISTS {queue} (
    schemaname text NOT NULL,
    tablename  text NOT NULL
)
