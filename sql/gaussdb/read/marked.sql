SELECT EXISTS (SELECT 1 FROM {queue} WHERE schemaname = '' AND tablename = {mark}::text)
