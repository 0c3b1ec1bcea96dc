-- Tables whose triggers do not fire, or did not for a while: LOST is what the event triggers note. What was changed
-- meanwhile is not known to anybody (R9).
SELECT entry.schemaname, entry.tablename
FROM {tables} AS entry
WHERE entry.status = 'LOST' OR entry.status = 'OK' AND entry.relid IN (SELECT {silenced}())
ORDER BY entry.schemaname, entry.tablename
