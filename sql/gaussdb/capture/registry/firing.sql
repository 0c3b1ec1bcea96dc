-- The relations whose TRUNCATE we hear of, in sessions of everybody.
SELECT tgrelid::bigint FROM pg_trigger WHERE tgname::text = {trigger}::text AND tgrelid = ANY (%(relations)s::oid[]) AND tgenabled IN ('O', 'A')
