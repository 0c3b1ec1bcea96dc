-- The room of purged rows is used again. To give it back locks out writers for a moment, only for the next rows to make the
-- table longer again (R9): so only where it got so long that each look at it takes its time.
VACUUM (SKIP_LOCKED, TRUNCATE {shrinks}) {queue}
