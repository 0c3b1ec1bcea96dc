-- Of a table and its partitions, those that wait at a commit and do not draw its last key (R1).
SELECT FROM {checked_late}(%(relation)s::regclass) AS late (relid)
WHERE NOT EXISTS (
    SELECT FROM pg_trigger AS made
    WHERE made.tgrelid = late.relid AND made.tgname = %(trigger)s AND made.tgenabled = 'A')
