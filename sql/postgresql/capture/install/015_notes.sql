-- What one event of a statement, or a transaction of ours, leaves for a later event to know. It goes before the transaction
-- ends, so nobody else ever sees it; and nobody else can write it, as any session can a setting, to go unseen (R9). What an
-- event failed to record stays noted for the publisher.
CREATE TABLE IF NOT EXISTS {notes} (
    trans_key xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id(),
    note      text NOT NULL,
    relid     oid  NOT NULL,
    repl_key  bigint
)
