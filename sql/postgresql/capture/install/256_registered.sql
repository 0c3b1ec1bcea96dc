-- Not again if they are there, which would lock out those whose DDL is recorded meanwhile (R9). No WHEN: it would keep the
-- column that it names from being widened.
DO $registered$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_catalog.pg_trigger
        WHERE tgrelid = {tables_name}::pg_catalog.regclass AND tgname = 'sluice_registering_after')
    THEN
        CREATE OR REPLACE TRIGGER sluice_registering BEFORE INSERT OR UPDATE ON {tables}
        FOR EACH ROW EXECUTE FUNCTION {registering}();
        CREATE OR REPLACE TRIGGER sluice_registering_after AFTER INSERT ON {tables}
        FOR EACH ROW EXECUTE FUNCTION {registering}();
    END IF;
END
$registered$
