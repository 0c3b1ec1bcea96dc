-- One row: what of the configuration the event triggers go by.
CREATE TABLE IF NOT EXISTS {settings} (
    only_row        boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    detection       boolean NOT NULL,
    initial_content boolean NOT NULL
)
