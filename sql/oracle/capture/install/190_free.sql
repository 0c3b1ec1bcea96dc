-- Runs as a job, every ten seconds. A trigger whose table lost a column that it names is invalid, and every statement on that table
-- fails until somebody makes it anew (ORA-04098). The publisher does; where none runs, this disables the trigger, and notes
-- that changes of the table are lost (R9). Manual: SQL Language Reference, "ALTER TRIGGER"; Database Reference, "ALL_TRIGGERS",
-- "ALL_OBJECTS".
CREATE OR REPLACE PROCEDURE {free} AUTHID DEFINER
IS
    still PLS_INTEGER;
BEGIN
    FOR broken IN (
        SELECT entry.relid, captured.trigger_name
        FROM {tables} entry
        JOIN user_triggers captured ON captured.trigger_name = entry.trigger_name AND captured.status = 'ENABLED'
        JOIN user_objects made
            ON made.object_name = captured.trigger_name AND made.object_type = 'TRIGGER' AND made.status = 'INVALID'
    ) LOOP
        BEGIN
            EXECUTE IMMEDIATE 'ALTER TRIGGER ' || DBMS_ASSERT.ENQUOTE_NAME(broken.trigger_name, FALSE) || ' COMPILE';
        EXCEPTION
            WHEN OTHERS THEN
                NULL;
        END;
        SELECT COUNT(*) INTO still
        FROM user_objects made
        WHERE made.object_name = broken.trigger_name AND made.object_type = 'TRIGGER' AND made.status = 'INVALID';
        IF still > 0 THEN
            {lose}(broken.relid);
            EXECUTE IMMEDIATE 'ALTER TRIGGER ' || DBMS_ASSERT.ENQUOTE_NAME(broken.trigger_name, FALSE) || ' DISABLE';
        END IF;
    END LOOP;
END;
