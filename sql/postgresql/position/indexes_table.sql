-- Indexes that are dropped while their table is filled. Each is written down in the transaction that drops it.
CREATE TABLE IF NOT EXISTS {indexes} (
    "schema" text NOT NULL,
    "table"  text NOT NULL,
    name     text NOT NULL,
    is_key   boolean NOT NULL,
    built    text NOT NULL,
    bound    text,
    PRIMARY KEY ("schema", "table", name)
)
