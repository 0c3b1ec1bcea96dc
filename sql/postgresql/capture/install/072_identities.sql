-- The replica identities that tables had before they became FULL, for whoever removes Sluice.
CREATE TABLE IF NOT EXISTS {identities} (
    relid    oid    PRIMARY KEY,
    identity "char" NOT NULL,
    index    oid
)
