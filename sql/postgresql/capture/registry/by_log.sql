-- Whether changes of rows are read from the server's log here; nothing, where nothing was installed.
SELECT by_log FROM {settings}
