-- What the watched tables were like when somebody looked last; the catalog is compared with it to find CREATE, ALTER and
-- DROP. By relation, with schema and columns: a name alone would mix up tables of two schemas, and never show an ALTER.
-- `clones`, `types`: see {clones} and {types_reached}; none, where they are not known.
CREATE TABLE IF NOT EXISTS {current_tables} (
    relid      oid   PRIMARY KEY,
    schemaname text  NOT NULL,
    relname    text  NOT NULL,
    definition jsonb NOT NULL,
    partitions oid[] NOT NULL,
    clones     oid[] NOT NULL DEFAULT '{{ }}',
    types      jsonb NOT NULL DEFAULT '{{ }}'
)
