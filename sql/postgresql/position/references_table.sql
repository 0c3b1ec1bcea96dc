-- Foreign keys that are made, or made again, once all rows of their tables are in, with the statement that makes each.
CREATE TABLE IF NOT EXISTS {references} (
    "schema"      text NOT NULL,
    "table"       text NOT NULL,
    name          text NOT NULL,
    parent_schema text NOT NULL,
    parent_table  text NOT NULL,
    made          text NOT NULL,
    PRIMARY KEY ("schema", "table", name)
)
