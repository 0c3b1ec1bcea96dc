-- A chunk is written down before its rows are in, for tasks to claim.
ALTER TABLE {loaded} ALTER COLUMN rows DROP NOT NULL
