-- Changes can be read from the server's log.
ALTER TABLE IF EXISTS {settings} ADD COLUMN IF NOT EXISTS by_log boolean NOT NULL DEFAULT false
