-- A source can change over from one way of capturing to the other.
ALTER TABLE IF EXISTS {log} ADD COLUMN IF NOT EXISTS phase text CHECK (phase IN ('queue', 'slot', 'over')),
    ADD COLUMN IF NOT EXISTS shown pg_snapshot, ADD COLUMN IF NOT EXISTS ends pg_lsn
