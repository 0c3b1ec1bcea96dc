-- A table that is watched as soon as it is made is debugged from its first row on, if that is wanted.
ALTER TABLE IF EXISTS {wanted} ADD COLUMN IF NOT EXISTS debug integer NOT NULL DEFAULT 0
