-- Whether rows are read from the server's log, and where a source that changes over is.
SELECT settings.by_log, log.phase, log.shown::text, log.ends - '0/0'::pg_lsn, log.slot::text
FROM {settings} AS settings LEFT JOIN {log} AS log ON true
