-- What ITEMS is stored as: the cheapest row image the database can write, rendered as the guide's columns by {items}. No
-- index: it would be a sixth of what capturing costs a small transaction, and the publisher reads by place. An action is
-- its first letter; the rest is what triggers have at hand, where to cut it off would cost more than to store it. 8160 is the most
-- that a row may have in place.
CREATE TABLE IF NOT EXISTS {queue} (
    repl_key   bigint NOT NULL,
    trans_key  xid8   NOT NULL DEFAULT pg_catalog.pg_current_xact_id(),
    relid      oid    NOT NULL,
    db_action  text   NOT NULL,
    content    text,
    oldcontent text
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 1000000)
