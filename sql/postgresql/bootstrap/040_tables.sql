-- Table 2.2 of the guide.
CREATE TABLE IF NOT EXISTS {tables} (
    catalogname  varchar(63) NOT NULL DEFAULT ' ',
    schemaname   varchar(63) NOT NULL,
    tablename    varchar(63) NOT NULL,
    actions      char(3),
    status       varchar(50) NOT NULL DEFAULT 'CREATING',
    repl_key     bigint      NOT NULL,
    trigger_name varchar(63) NOT NULL,
    debug        integer     NOT NULL DEFAULT 0,
    PRIMARY KEY (catalogname, schemaname, tablename)
)
