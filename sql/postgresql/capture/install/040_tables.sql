-- Table 2.2 of the guide. The widths are the least that is needed; the next statement widens what is to be wider.
CREATE TABLE IF NOT EXISTS {tables} (
    catalogname  varchar(63) NOT NULL DEFAULT ' ',
    schemaname   varchar(63) NOT NULL,
    tablename    varchar(63) NOT NULL,
    actions      varchar(3),
    status       varchar(10) NOT NULL DEFAULT 'CREATING',
    repl_key     bigint      NOT NULL,
    trigger_name varchar(63) NOT NULL,
    debug        integer     NOT NULL DEFAULT 0,
    relid        oid,
    old_images   text        NOT NULL DEFAULT 'full',
    PRIMARY KEY (catalogname, schemaname, tablename)
)
