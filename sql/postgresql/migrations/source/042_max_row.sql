-- A row of the master can be too long to be published. The bootstrap that follows makes the functions anew.
ALTER TABLE IF EXISTS {settings} ADD COLUMN IF NOT EXISTS max_row_bytes bigint NOT NULL DEFAULT 128000000
