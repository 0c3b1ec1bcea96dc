-- How many things a database has; we made it, and leave it to those who keep something in it.
SELECT (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = %(schema)s)
     + (SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = %(schema)s)
     + (SELECT COUNT(*) FROM information_schema.events WHERE event_schema = %(schema)s)
