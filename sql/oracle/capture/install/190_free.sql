-- Runs as a job, every ten seconds, also while no publisher does. While a trigger is disabled or gone, changes are lost: that is noted
-- even if somebody enables it again before the publisher looks. A trigger whose table lost a column that it names is invalid, and
-- every statement on that table fails until somebody makes it anew (ORA-04098). The publisher does; where none runs, this disables
-- the trigger, and notes that changes of the table are lost (R9). One that is in use does not keep the others from their turn.
-- Manual: SQL Language Reference, "ALTER TRIGGER"; Database Reference, "ALL_TRIGGERS", "ALL_OBJECTS"; PL/SQL Language Reference,
-- "RAISE_APPLICATION_ERROR Procedure".
CREATE OR REPLACE PROCEDURE {free} AUTHID DEFINER
IS
    still  PLS_INTEGER;
    failed VARCHAR2(2000 BYTE);
BEGIN
    FOR silent IN (
        SELECT entry.relid
        FROM {tables} entry
        WHERE entry.status = 'OK' AND entry.lost = 'N' AND entry.actions <> 'NONE'
          AND NOT EXISTS (
              SELECT 1 FROM user_triggers captured
              WHERE captured.trigger_name = entry.trigger_name AND captured.status = 'ENABLED'
          )
    ) LOOP
        {lose}(silent.relid);
    END LOOP;
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
            BEGIN
                EXECUTE IMMEDIATE 'ALTER TRIGGER ' || DBMS_ASSERT.ENQUOTE_NAME(broken.trigger_name, FALSE) || ' DISABLE';
            EXCEPTION
                WHEN OTHERS THEN
                    failed := SUBSTRB(broken.trigger_name || ': ' || SQLERRM, 1, 2000);
            END;
        END IF;
    END LOOP;
    IF failed IS NOT NULL THEN
        RAISE_APPLICATION_ERROR(-20000, failed);
    END IF;
END;
