-- Which rows the slave is to have, so that a load in blocks that broke off can be gone on with.
ALTER TABLE {ranges} ADD COLUMN IF NOT EXISTS seen text NOT NULL DEFAULT ''
