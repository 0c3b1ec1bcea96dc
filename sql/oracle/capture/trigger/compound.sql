-- Rows are read after each row, and written after the statement: only then foreign keys were checked, and whoever waits for a row
-- of ours draws a later key (R1). Of a long statement images are written on the way, always but for the last: the largest key of
-- the transaction is drawn at the end. Whatever fails here fails no statement of the application (R9). Manual: PL/SQL Language
-- Reference, "Compound DML Triggers", "CREATE TRIGGER Statement".
CREATE OR REPLACE TRIGGER {trigger}
FOR {events} ON {table}
COMPOUND TRIGGER
    TYPE actions_t IS TABLE OF VARCHAR2(10) INDEX BY PLS_INTEGER;
    TYPE images_t IS TABLE OF CLOB INDEX BY PLS_INTEGER;
    TYPE places_t IS TABLE OF VARCHAR2(4000) INDEX BY PLS_INTEGER;
    most_    CONSTANT PLS_INTEGER := 500;
    actions_ actions_t;
    news_    images_t;
    olds_    images_t;
    guids_   places_t;
    lost_    BOOLEAN := FALSE;

    PROCEDURE forget_ IS
        no_actions_ actions_t;
        no_images_  images_t;
        no_guids_   places_t;
    BEGIN
        actions_ := no_actions_;
        news_ := no_images_;
        olds_ := no_images_;
        guids_ := no_guids_;
    END forget_;

    PROCEDURE write_ IS
        trans_key_ VARCHAR2(64) := DBMS_TRANSACTION.LOCAL_TRANSACTION_ID(TRUE);
    BEGIN
        FORALL i IN 1 .. actions_.COUNT
            INSERT INTO {items} (repl_key, trans_key, tablename, guid, db_action, db_schema, content, oldcontent, relid)
            VALUES ({seq}.NEXTVAL, trans_key_, {table_name}, guids_(i), actions_(i), {schema_name}, news_(i), olds_(i), {relation});
        forget_;
    END write_;

    PROCEDURE keep_(action_ IN VARCHAR2, new_ IN CLOB, old_ IN CLOB, guid_ IN VARCHAR2) IS
        n_ PLS_INTEGER;
    BEGIN
        IF actions_.COUNT >= most_ THEN
            write_;
        END IF;
        n_ := actions_.COUNT + 1;
        actions_(n_) := action_;
        news_(n_) := new_;
        olds_(n_) := old_;
        guids_(n_) := guid_;
    END keep_;

    BEFORE STATEMENT IS
    BEGIN
        forget_;
        lost_ := FALSE;
    END BEFORE STATEMENT;

    AFTER EACH ROW IS
    BEGIN
        IF lost_ THEN
            NULL;
        {branches}
        END IF;
    EXCEPTION
        WHEN OTHERS THEN
            lost_ := TRUE;
            {lose}({relation});
    END AFTER EACH ROW;

    AFTER STATEMENT IS
    BEGIN
        IF actions_.COUNT > 0 THEN
            write_;
        END IF;{debugging}
    EXCEPTION
        WHEN OTHERS THEN
            {lose}({relation});
    END AFTER STATEMENT;
END;
