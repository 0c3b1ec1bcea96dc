-- Triggers of the application that run after a row was changed, and before ours: what they change of that row again would
-- be captured before the change that they follow (R1).
SELECT found.tgname || ' on ' || namespace.nspname || '.' || class.relname
FROM pg_trigger AS found
JOIN pg_class AS class ON class.oid = found.tgrelid
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
WHERE found.tgrelid = ANY ({tables}) AND NOT found.tgisinternal AND found.tgenabled <> 'D'
  AND found.tgtype & 1 = 1 AND found.tgtype & 66 = 0 AND found.tgname < {ours}
ORDER BY 1
