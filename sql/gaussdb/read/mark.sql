-- A row that no table that was emptied is named by: a sweep that sees it, and leaves nothing, removes it.
INSERT INTO {queue} (schemaname, tablename) VALUES ('', {mark}::text)
