DELETE FROM {tables} WHERE schemaname = '' AND tablename = ''
