-- The rows of a table, in the session's snapshot.
SELECT count(*) FROM {rows}
