-- Those of the names that some function bears which gives another value each time.
SELECT DISTINCT proname FROM pg_catalog.pg_proc
WHERE proname = ANY (%(names)s) AND provolatile = 'v' AND prokind IN ('f', 'p')
ORDER BY proname
