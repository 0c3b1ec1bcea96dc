-- One row: what of the configuration triggers go by. `trusted_code`: roles whose functions may run with our rights. `by_log`: changes of rows are read from the server's log. `max_row_bytes`: of a longer row, as text, no change is captured.
CREATE TABLE IF NOT EXISTS {settings} (
    only_row        boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    detection       boolean NOT NULL,
    initial_content boolean NOT NULL,
    trusted_code    text[]  NOT NULL DEFAULT '{{ }}',
    by_log          boolean NOT NULL DEFAULT false,
    max_row_bytes   bigint  NOT NULL DEFAULT 128000000
)
