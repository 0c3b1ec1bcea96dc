-- Without tables that are still to be made. Actions that are not given are all three; a blank is the end of a char(3).
SELECT schemaname, tablename, rtrim(coalesce(actions, 'IUD')), trigger_name, status, debug, old_images
FROM {tables}
WHERE status <> 'WANTED'
