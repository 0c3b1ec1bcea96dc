-- Whoever executes it holds its record until the end.
SELECT id FROM {records} WHERE id = %(id)s FOR UPDATE NOWAIT
