-- What would act on rows while they are loaded, and cannot be silenced without the right to: own triggers, foreign keys.
-- Those by which a slave that is a master itself captures change nothing that is replicated.
SELECT conname AS name FROM pg_constraint WHERE conrelid = %(relation)s::regclass AND contype = 'f'
UNION ALL
SELECT tgname
FROM pg_trigger
JOIN pg_proc AS function ON function.oid = tgfoid
WHERE tgrelid = %(relation)s::regclass AND NOT tgisinternal
  AND NOT EXISTS (
    SELECT FROM pg_class AS queue
    WHERE queue.relnamespace = function.pronamespace AND queue.relkind = 'r'
      AND queue.relname = substring(function.proname FROM '^(.*)(?:capture_[0-9]+|mark_function|truncating)$') || 'queue')
LIMIT 1
