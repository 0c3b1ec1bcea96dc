-- What a chunk holds, and in which snapshot, so that a load that broke off can be gone on with.
ALTER TABLE {loaded} ADD COLUMN IF NOT EXISTS part text
