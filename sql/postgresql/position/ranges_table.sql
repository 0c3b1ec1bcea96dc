-- Key ranges that are loaded block by block. How far each is, is written in the transaction of the block (R3). `seen`: which rows
-- the slave is to have, so that a load that broke off can go on. `first`: where a range begins whose keys somebody named.
-- `replaces`: rows of the slave between its keys are replaced.
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
    seen      text    NOT NULL DEFAULT '',
    first     text[],
    replaces  boolean NOT NULL DEFAULT false,
    PRIMARY KEY (source, slave, number)
)
