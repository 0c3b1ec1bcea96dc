-- A right that can be done without: who may not grant it is told what is lacking, and all else is granted.
DO $optional$
BEGIN
    {statement};
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING '%', SQLERRM USING HINT = {lacking};
END
$optional$
