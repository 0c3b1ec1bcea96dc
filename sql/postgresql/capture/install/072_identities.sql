-- The replica identities that tables had before they became FULL, for the day when Sluice is removed.
CREATE TABLE IF NOT EXISTS {identities} (
    relid    oid    PRIMARY KEY,
    identity "char" NOT NULL,
    index    oid
)
