-- How far these upgrades are.
ALTER TABLE {state} ADD COLUMN IF NOT EXISTS version integer NOT NULL DEFAULT 0
