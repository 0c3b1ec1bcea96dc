-- Which tables the configuration wants, so that one made later is known at once: names, and beginnings of names.
CREATE TABLE IF NOT EXISTS {wanted} (
    schemaname   text    NOT NULL,
    tablename    text    NOT NULL,
    wildcard     boolean NOT NULL,
    excluded     boolean NOT NULL,
    actions      text    NOT NULL,
    trigger_name text,
    debug        integer NOT NULL DEFAULT 0,
    old_images   text    NOT NULL DEFAULT 'full',
    PRIMARY KEY (schemaname, tablename, wildcard)
)
