-- Refuses views and foreign tables of users when a statement is read, before anything of them runs.
SELECT set_config(name, 'view, foreign-table', false) FROM pg_catalog.pg_settings WHERE name = 'restrict_nonsystem_relation_kind'
