-- Ranges between keys that somebody named, whose rows on the slave are replaced.
ALTER TABLE {ranges} ADD COLUMN IF NOT EXISTS first text[], ADD COLUMN IF NOT EXISTS replaces boolean NOT NULL DEFAULT false
