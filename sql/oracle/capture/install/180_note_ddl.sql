-- DDL at its place in the stream, with how the table is behind it, or was before a DROP. Without that, since it cannot be read, or since
-- the configuration has no DDL carried, the publisher finds by a comparison with the catalog which columns there are. A table is known by its number, since a RENAME may have
-- come before, and by its former name, since a RENAME may be this. A statement on partitions may take rows away, or bring some, which no trigger of rows sees, and
-- one that disables triggers lets others do so: the table is LOST. So it is if the statement is too long to be read. TRUNCATE is
-- sent, so the new segments are as they should be; not those of tables that CASCADE empties, too. The statement is for information,
-- and not for passwords that stand near it. A new table that cannot be noted is found by the comparison. Manual: PL/SQL Language
-- Reference, "Event Attribute Functions"; PL/SQL Packages and Types Reference, "DBMS_TRANSACTION".
CREATE OR REPLACE PROCEDURE {note_ddl}(event IN VARCHAR2, owner IN VARCHAR2, name IN VARCHAR2, statement IN VARCHAR2) AUTHID DEFINER
IS
    owned    VARCHAR2(128 BYTE) := owner;
    called   VARCHAR2(128 BYTE) := name;
    relation NUMBER;
    wished   PLS_INTEGER;
    said     VARCHAR2(4000 BYTE);
    carried  PLS_INTEGER;
    image    CLOB;
BEGIN
    SELECT MAX(entry.relid) INTO relation
    FROM {tables} entry
    JOIN sys.dba_objects made ON made.object_id = entry.relid AND made.object_type = 'TABLE'
    WHERE made.owner = owned AND made.object_name = called;
    IF relation IS NULL THEN
        SELECT MAX(known.relid) INTO relation FROM {current_tables} known WHERE known.schemaname = owned AND known.relname = called;
    END IF;
    IF relation IS NULL THEN
        SELECT COUNT(*) INTO wished
        FROM {wanted} entry
        WHERE entry.schemaname = owner AND entry.excluded = 'N'
          AND (entry.tablename = name OR (entry.wildcard = 'Y' AND (entry.tablename = ' ' OR INSTR(name, entry.tablename) = 1)));
        IF wished = 0 THEN
            RETURN;
        END IF;
    ELSIF statement = 'UNREADABLE'
        OR REGEXP_LIKE(statement, '(truncate|drop|exchange)[[:space:]]+(sub)?partition', 'i')
        OR REGEXP_LIKE(statement, 'disable[[:space:]]+all[[:space:]]+triggers', 'i') THEN
        {lose}(relation);
    ELSIF event = 'TRUNCATE' THEN
        {note_segments}(relation);
    END IF;
    IF NOT REGEXP_LIKE(statement, 'password|identified', 'i') THEN
        said := SUBSTRB(statement, 1, 4000);
    END IF;
    IF event <> 'TRUNCATE' AND relation IS NOT NULL THEN
        BEGIN
            SELECT COUNT(*) INTO carried FROM {settings} setting WHERE setting.detection = 'Y';
            IF carried > 0 THEN
                image := {definition}(relation);
            END IF;
        EXCEPTION
            WHEN OTHERS THEN
                image := NULL;
        END;
    END IF;
    INSERT INTO {items} (repl_key, trans_key, tablename, db_action, db_schema, content, oldcontent, relid)
    VALUES ({seq}.NEXTVAL, DBMS_TRANSACTION.LOCAL_TRANSACTION_ID(TRUE), name, CASE event WHEN 'RENAME' THEN 'ALTER' ELSE event END,
            owner, image, said, NVL(relation, 0));
EXCEPTION
    WHEN OTHERS THEN
        {lose}(relation);
END;
