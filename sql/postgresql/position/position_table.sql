-- How far each replication into this database has come, and the fence of who may move it (R3, R6).
CREATE TABLE IF NOT EXISTS {position} (
    source      text   NOT NULL,
    slave       text   NOT NULL,
    segment     bigint NOT NULL DEFAULT 0,
    ordinal     bigint NOT NULL DEFAULT 0,
    snapshot    text,
    epoch       bigint NOT NULL DEFAULT 0,
    backend_pid integer,
    PRIMARY KEY (source, slave)
) WITH (fillfactor = 10)
