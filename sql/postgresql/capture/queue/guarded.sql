-- Whether the queue refuses that changes are taken out of it which are not published.
SELECT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = {queue_name}::regclass AND tgname = 'sluice_guard' AND tgenabled = 'A')
