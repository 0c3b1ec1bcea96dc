-- How much of a row an update leaves of what it was. The bootstrap that follows writes down what is wanted.
ALTER TABLE {tables} ADD COLUMN IF NOT EXISTS old_images text NOT NULL DEFAULT 'full'
