-- Not TRUNCATE: it would lock out writers for a moment, only for the next rows to make the table longer again (R9).
VACUUM (SKIP_LOCKED, TRUNCATE off) {queue}
