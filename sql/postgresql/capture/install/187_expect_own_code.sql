-- What {may_plan} asks for. A transaction that does not see the catalog as it is may not see what somebody has made since: nothing
-- is read in it with a superuser's rights if somebody who is not trusted may make such things.
CREATE OR REPLACE FUNCTION {expect_own_code}(relation oid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $expect_own_code$
DECLARE
    said text := (
        SELECT format('%s calls %s of %s', found.object, found.function, found.owner)
        FROM {code_of_others}(relation::oid) AS found
        LIMIT 1);
BEGIN
    IF said IS NULL AND current_setting('transaction_isolation') <> 'read committed'
        AND (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
    THEN
        said := (
            SELECT format('%s belongs to %I, and this transaction does not see what is made meanwhile', class.oid::regclass, owner.rolname)
            FROM pg_class AS class
            JOIN pg_roles AS owner ON owner.oid = class.relowner
            WHERE class.oid IN (SELECT {tree}(relation::oid) UNION SELECT relid FROM pg_partition_ancestors(relation))
              AND NOT pg_has_role(owner.oid, (SELECT relowner FROM pg_class WHERE oid = {tables_name}::regclass), 'MEMBER')
              AND NOT EXISTS (
                SELECT FROM {settings} CROSS JOIN unnest(trusted_code) AS trusted (name)
                JOIN pg_roles AS role ON role.rolname = trusted.name
                WHERE pg_has_role(owner.oid, role.oid, 'MEMBER'))
            LIMIT 1);
    END IF;
    IF said IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'SL360', MESSAGE = 'code of others could run: ' || said;
    END IF;
    RETURN true;
END
$expect_own_code$
