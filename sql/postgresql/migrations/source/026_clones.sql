-- Whether a partition was detached and attached again between two looks of a poll.
ALTER TABLE IF EXISTS {current_tables} ADD COLUMN IF NOT EXISTS clones oid[] NOT NULL DEFAULT '{{ }}'
