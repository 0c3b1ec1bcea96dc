-- The log has the texts of earlier ones; that they were committed is still asked for.
UPDATE {records} SET content = '' WHERE id < %(id)s AND content <> ''
