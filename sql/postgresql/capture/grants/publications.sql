-- Saying of which tables the log is read.
DO $publications$
BEGIN
    EXECUTE format('GRANT CREATE ON DATABASE %I TO %I', current_database(), {role_name});
END
$publications$
