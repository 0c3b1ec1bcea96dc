-- Whatever else depends on one of them makes this fail, and then nothing is dropped.
DO $cleanup$
DECLARE
    object record;
BEGIN
    FOR object IN {objects} LOOP
        EXECUTE format('DROP %s %s', object.kind, object.identity);
    END LOOP;
END
$cleanup$
