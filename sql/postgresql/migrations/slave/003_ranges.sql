-- Key ranges that are loaded block by block: how far each is, written in the transaction of the block (R3).
CREATE TABLE IF NOT EXISTS {ranges} (
    source    text    NOT NULL,
    slave     text    NOT NULL,
    number    integer NOT NULL,
    update_id bigint  NOT NULL,
    "schema"  text    NOT NULL,
    "table"   text    NOT NULL,
    key_order text    NOT NULL,
    reached   text[],
    until     text[],
    rows      bigint  NOT NULL DEFAULT 0,
    ended     boolean NOT NULL DEFAULT false,
    PRIMARY KEY (source, slave, number)
)
