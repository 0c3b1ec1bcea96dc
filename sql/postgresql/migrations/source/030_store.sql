-- Two control stores could be told to publish one source, and each then took changes away from the other.
ALTER TABLE {state} ADD COLUMN IF NOT EXISTS store uuid
