-- The same of a table that is watched as soon as it is made.
ALTER TABLE IF EXISTS {wanted} ADD COLUMN IF NOT EXISTS old_images text NOT NULL DEFAULT 'full'
