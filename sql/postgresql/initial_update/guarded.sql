-- What would act on rows while they are loaded, and cannot be silenced without the right to: own triggers, foreign keys.
SELECT conname AS name FROM pg_constraint WHERE conrelid = %(relation)s::regclass AND contype = 'f'
UNION ALL
SELECT tgname FROM pg_trigger WHERE tgrelid = %(relation)s::regclass AND NOT tgisinternal
LIMIT 1
