-- DDL on a type of a user that changed rows of watched tables was not seen. The bootstrap that follows makes the functions that
-- record what types are made of.
ALTER TABLE IF EXISTS {current_tables} ADD COLUMN IF NOT EXISTS types jsonb NOT NULL DEFAULT '{{ }}'
