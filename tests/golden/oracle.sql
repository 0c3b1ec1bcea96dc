CREATE SEQUENCE "REPL"."REPL_SEQ" START WITH 1 INCREMENT BY 1 MINVALUE 1 NOMAXVALUE NOCYCLE NOCACHE ORDER
/
CREATE TABLE "REPL"."REPL_ITEMS" (
    repl_key   NUMBER(19)          NOT NULL,
    trans_key  VARCHAR2(64 BYTE)   NOT NULL,
    dbid       VARCHAR2(128 BYTE),
    tablename  VARCHAR2(128 BYTE)  NOT NULL,
    guid       VARCHAR2(4000 BYTE),
    db_action  VARCHAR2(10 BYTE)   NOT NULL,
    db_catalog VARCHAR2(128 BYTE),
    db_schema  VARCHAR2(128 BYTE),
    content    CLOB,
    oldcontent CLOB,
    version    VARCHAR2(10 BYTE),
    relid      NUMBER              NOT NULL,
    CONSTRAINT "REPL_ITEMS_KEY" PRIMARY KEY (repl_key)
) INITRANS 8 LOB (content, oldcontent) STORE AS (ENABLE STORAGE IN ROW CACHE)
/
CREATE INDEX "REPL"."REPL_ITEMS_TRANSACTIONS" ON "REPL"."REPL_ITEMS" (trans_key, repl_key) INITRANS 8
/
CREATE TABLE "REPL"."REPL_STATEMENTS" (
    id        NUMBER(19)   NOT NULL,
    committed CHAR(1 BYTE) DEFAULT 'N' NOT NULL,
    scn       NUMBER,
    CONSTRAINT "REPL_STATEMENTS_KEY" PRIMARY KEY (id)
)
/
CREATE TABLE "REPL"."REPL_LAYOUTS" (
    repl_key    NUMBER(19)         NOT NULL,
    relid       NUMBER             NOT NULL,
    schemaname  VARCHAR2(128 BYTE) NOT NULL,
    tablename   VARCHAR2(128 BYTE) NOT NULL,
    columns     CLOB               NOT NULL,
    key_columns CLOB               NOT NULL,
    deferred    CHAR(1 BYTE)       NOT NULL,
    CONSTRAINT "REPL_LAYOUTS_KEY" PRIMARY KEY (repl_key)
)
/
CREATE TABLE "REPL"."REPL_SEGMENTS" (
    relid          NUMBER NOT NULL,
    object_id      NUMBER NOT NULL,
    data_object_id NUMBER NOT NULL,
    CONSTRAINT "REPL_SEGMENTS_KEY" PRIMARY KEY (relid, object_id)
)
/
CREATE TABLE "REPL"."REPL_TABLES" (
    catalogname  VARCHAR2(128 BYTE) DEFAULT ' ' NOT NULL,
    schemaname   VARCHAR2(128 BYTE) NOT NULL,
    tablename    VARCHAR2(128 BYTE) NOT NULL,
    actions      VARCHAR2(4 BYTE)   NOT NULL,
    status       VARCHAR2(10 BYTE)  DEFAULT 'CREATING' NOT NULL,
    repl_key     NUMBER(19)         NOT NULL,
    trigger_name VARCHAR2(128 BYTE) NOT NULL,
    debug        NUMBER(1)          DEFAULT 0 NOT NULL,
    relid        NUMBER             NOT NULL,
    old_images   VARCHAR2(4 BYTE)   DEFAULT 'full' NOT NULL,
    lost         CHAR(1 BYTE)       DEFAULT 'N' NOT NULL,
    CONSTRAINT "REPL_TABLES_KEY" PRIMARY KEY (catalogname, schemaname, tablename),
    CONSTRAINT "REPL_TABLES_ACTIONS" CHECK (actions IN ('I', 'U', 'D', 'IU', 'ID', 'UD', 'IUD', 'NONE')),
    CONSTRAINT "REPL_TABLES_LOST" CHECK (lost IN ('N', 'Y'))
)
/
CREATE TABLE "REPL"."REPL_WANTED" (
    schemaname   VARCHAR2(128 BYTE) NOT NULL,
    tablename    VARCHAR2(128 BYTE) NOT NULL,
    wildcard     CHAR(1 BYTE)       NOT NULL,
    excluded     CHAR(1 BYTE)       NOT NULL,
    actions      VARCHAR2(4 BYTE)   NOT NULL,
    trigger_name VARCHAR2(128 BYTE),
    debug        NUMBER(1)          DEFAULT 0 NOT NULL,
    old_images   VARCHAR2(4 BYTE)   DEFAULT 'full' NOT NULL,
    CONSTRAINT "REPL_WANTED_KEY" PRIMARY KEY (schemaname, tablename, wildcard)
)
/
CREATE TABLE "REPL"."REPL_SETTINGS" (
    only_row        NUMBER(1)    DEFAULT 1 NOT NULL,
    detection       CHAR(1 BYTE) NOT NULL,
    initial_content CHAR(1 BYTE) NOT NULL,
    CONSTRAINT "REPL_SETTINGS_KEY" PRIMARY KEY (only_row),
    CONSTRAINT "REPL_SETTINGS_ONE" CHECK (only_row = 1)
)
/
CREATE TABLE "REPL"."REPL_CURRENT_TABLES" (
    relid      NUMBER             NOT NULL,
    schemaname VARCHAR2(128 BYTE) NOT NULL,
    relname    VARCHAR2(128 BYTE) NOT NULL,
    definition CLOB               NOT NULL,
    CONSTRAINT "REPL_CURRENT_TABLES_KEY" PRIMARY KEY (relid)
)
/
CREATE TABLE "REPL"."REPL_DEBUG_TABLE" (
    repl_key NUMBER(19)          NOT NULL,
    line     VARCHAR2(4000 BYTE) NOT NULL,
    CONSTRAINT "REPL_DEBUG_TABLE_KEY" PRIMARY KEY (repl_key)
)
/
CREATE TABLE "REPL"."REPL_STATE" (
    only_row    NUMBER(1)         DEFAULT 1 NOT NULL,
    incarnation VARCHAR2(32 BYTE) DEFAULT RAWTOHEX(SYS_GUID()) NOT NULL,
    segment     NUMBER(19)        DEFAULT 0 NOT NULL,
    sha256      VARCHAR2(64 BYTE) DEFAULT 'NONE' NOT NULL,
    epoch       NUMBER(19)        DEFAULT 0 NOT NULL,
    session_id  VARCHAR2(64 BYTE) DEFAULT 'NONE' NOT NULL,
    version     NUMBER(9)         DEFAULT 0 NOT NULL,
    store       VARCHAR2(64 BYTE) DEFAULT 'NONE' NOT NULL,
    CONSTRAINT "REPL_STATE_KEY" PRIMARY KEY (only_row),
    CONSTRAINT "REPL_STATE_ONE" CHECK (only_row = 1)
)
/
CREATE TABLE "REPL"."REPL_FLUSHED" (
    only_row NUMBER(1)  DEFAULT 1 NOT NULL,
    times    NUMBER(19) DEFAULT 0 NOT NULL,
    CONSTRAINT "REPL_FLUSHED_KEY" PRIMARY KEY (only_row),
    CONSTRAINT "REPL_FLUSHED_ONE" CHECK (only_row = 1)
)
/
CREATE OR REPLACE VIEW "REPL"."REPL_STORED" (relid, object_id, data_object_id) AS
SELECT entry.relid, part.object_id, part.data_object_id
FROM "REPL"."REPL_TABLES" entry
JOIN sys.dba_objects part ON part.owner = entry.schemaname AND part.object_name = entry.tablename
WHERE part.object_type IN ('TABLE', 'TABLE PARTITION', 'TABLE SUBPARTITION') AND part.data_object_id IS NOT NULL
UNION ALL
SELECT entry.relid, part.object_id, part.data_object_id
FROM "REPL"."REPL_TABLES" entry
JOIN all_indexes home
    ON home.table_owner = entry.schemaname AND home.table_name = entry.tablename AND home.index_type = 'IOT - TOP'
JOIN sys.dba_objects part ON part.owner = home.owner AND part.object_name = home.index_name
WHERE part.object_type IN ('INDEX', 'INDEX PARTITION') AND part.data_object_id IS NOT NULL
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_INCREMENT" RETURN NUMBER AUTHID DEFINER
IS
BEGIN
    RETURN "REPL"."REPL_SEQ".NEXTVAL;
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_NEEDS_PROT"(value IN VARCHAR2) RETURN PLS_INTEGER DETERMINISTIC AUTHID DEFINER
IS
    controls CONSTANT VARCHAR2(64) :=
        UTL_RAW.CAST_TO_VARCHAR2(HEXTORAW('0001020304050607080B0C0D0E0F101112131415161718191A1B1C1D1E1F'));
BEGIN
    IF value IS NULL THEN
        RETURN 0;
    ELSIF INSTR(value, ']]>') > 0 OR NVL(LENGTHB(TRANSLATE(value, 'A' || controls, 'A')), 0) < LENGTHB(value) THEN
        RETURN 2;
    ELSIF INSTR(value, '<') > 0 OR INSTR(value, '&') > 0 THEN
        RETURN 1;
    END IF;
    RETURN 0;
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_BASE64"(bytes IN RAW) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    RETURN REPLACE(REPLACE(UTL_RAW.CAST_TO_VARCHAR2(UTL_ENCODE.BASE64_ENCODE(bytes)), CHR(10)), CHR(13));
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_NAME2XML"(name IN VARCHAR2) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    RETURN '<col name="' || REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
        name, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), CHR(10), '&#10;'), CHR(13), '&#13;'), CHR(9), '&#9;') || '"';
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_COL2XML"(name IN VARCHAR2, value IN VARCHAR2) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
    protection PLS_INTEGER;
BEGIN
    IF value IS NULL THEN
        RETURN "REPL"."REPL_NAME2XML"(name) || ' type="null"/>';
    END IF;
    protection := "REPL"."REPL_NEEDS_PROT"(value);
    IF protection = 2 THEN
        RETURN "REPL"."REPL_NAME2XML"(name) || ' type="text" encoding="base64">' || "REPL"."REPL_BASE64"(UTL_I18N.STRING_TO_RAW(value, 'AL32UTF8'))
            || '</col>';
    ELSIF protection = 1 THEN
        RETURN "REPL"."REPL_NAME2XML"(name) || '><![CDATA[' || value || ']]></col>';
    END IF;
    RETURN "REPL"."REPL_NAME2XML"(name) || '>' || value || '</col>';
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_NCOL2XML"(name IN VARCHAR2, value IN NVARCHAR2) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
    converted VARCHAR2(32767);
BEGIN
    IF value IS NULL THEN
        RETURN "REPL"."REPL_NAME2XML"(name) || ' type="null"/>';
    END IF;
    converted := TO_CHAR(value);
    IF UTL_I18N.STRING_TO_RAW(converted, 'AL32UTF8') = UTL_I18N.STRING_TO_RAW(value, 'AL32UTF8') THEN
        RETURN "REPL"."REPL_COL2XML"(name, converted);
    END IF;
    RETURN "REPL"."REPL_NAME2XML"(name) || ' type="text" encoding="base64">' || "REPL"."REPL_BASE64"(UTL_I18N.STRING_TO_RAW(value, 'AL32UTF8'))
        || '</col>';
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_RAW2XML"(name IN VARCHAR2, value IN RAW) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    IF value IS NULL THEN
        RETURN "REPL"."REPL_NAME2XML"(name) || ' type="null"/>';
    END IF;
    RETURN "REPL"."REPL_NAME2XML"(name) || ' encoding="base64">' || "REPL"."REPL_BASE64"(value) || '</col>';
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_LOB2XML"(name IN VARCHAR2, kind IN VARCHAR2, value IN BLOB) RETURN CLOB AUTHID DEFINER
IS
    step CONSTANT PLS_INTEGER := 12000;
    made  CLOB;
    place NUMBER := 1;
    piece VARCHAR2(32767);
BEGIN
    IF value IS NULL THEN
        RETURN "REPL"."REPL_NAME2XML"(name) || ' type="null"/>';
    END IF;
    DBMS_LOB.CREATETEMPORARY(made, TRUE);
    piece := "REPL"."REPL_NAME2XML"(name) || kind || ' encoding="base64">';
    DBMS_LOB.APPEND(made, TO_CLOB(piece));
    WHILE place <= DBMS_LOB.GETLENGTH(value) LOOP
        piece := "REPL"."REPL_BASE64"(DBMS_LOB.SUBSTR(value, step, place));
        DBMS_LOB.APPEND(made, TO_CLOB(piece));
        place := place + step;
    END LOOP;
    DBMS_LOB.APPEND(made, TO_CLOB('</col>'));
    RETURN made;
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_CLOB2XML"(name IN VARCHAR2, value IN CLOB) RETURN CLOB AUTHID DEFINER
IS
    bytes        BLOB;
    made         CLOB;
    place        NUMBER := 1;
    source_place NUMBER := 1;
    context      NUMBER := DBMS_LOB.DEFAULT_LANG_CTX;
    warning      NUMBER;
BEGIN
    IF value IS NULL THEN
        RETURN "REPL"."REPL_NAME2XML"(name) || ' type="null"/>';
    END IF;
    DBMS_LOB.CREATETEMPORARY(bytes, TRUE);
    IF DBMS_LOB.GETLENGTH(value) > 0 THEN
        DBMS_LOB.CONVERTTOBLOB(
            bytes, value, DBMS_LOB.LOBMAXSIZE, place, source_place, NLS_CHARSET_ID('AL32UTF8'), context, warning);
    END IF;
    made := "REPL"."REPL_LOB2XML"(name, ' type="text"', bytes);
    DBMS_LOB.FREETEMPORARY(bytes);
    RETURN made;
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_NCLOB2XML"(name IN VARCHAR2, value IN NCLOB) RETURN CLOB AUTHID DEFINER
IS
    bytes        BLOB;
    made         CLOB;
    place        NUMBER := 1;
    source_place NUMBER := 1;
    context      NUMBER := DBMS_LOB.DEFAULT_LANG_CTX;
    warning      NUMBER;
BEGIN
    IF value IS NULL THEN
        RETURN "REPL"."REPL_NAME2XML"(name) || ' type="null"/>';
    END IF;
    DBMS_LOB.CREATETEMPORARY(bytes, TRUE);
    IF DBMS_LOB.GETLENGTH(value) > 0 THEN
        DBMS_LOB.CONVERTTOBLOB(
            bytes, value, DBMS_LOB.LOBMAXSIZE, place, source_place, NLS_CHARSET_ID('AL32UTF8'), context, warning);
    END IF;
    made := "REPL"."REPL_LOB2XML"(name, ' type="text"', bytes);
    DBMS_LOB.FREETEMPORARY(bytes);
    RETURN made;
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_NUMBER_TEXT"(value IN NUMBER) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    RETURN TO_CHAR(value, 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''');
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_DOUBLE_TEXT"(value IN BINARY_DOUBLE) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    RETURN RAWTOHEX(UTL_RAW.CAST_FROM_BINARY_DOUBLE(value, UTL_RAW.BIG_ENDIAN));
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_FLOAT_TEXT"(value IN BINARY_FLOAT) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    RETURN RAWTOHEX(UTL_RAW.CAST_FROM_BINARY_FLOAT(value, UTL_RAW.BIG_ENDIAN));
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_MOMENT_TEXT"(value IN TIMESTAMP_UNCONSTRAINED) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN TO_CHAR(EXTRACT(YEAR FROM value), 'FM0000') || '-' || TO_CHAR(EXTRACT(MONTH FROM value), 'FM00') || '-'
        || TO_CHAR(EXTRACT(DAY FROM value), 'FM00') || ' ' || TO_CHAR(EXTRACT(HOUR FROM value), 'FM00') || ':'
        || TO_CHAR(EXTRACT(MINUTE FROM value), 'FM00') || ':'
        || TO_CHAR(EXTRACT(SECOND FROM value), 'FM00.000000000', 'NLS_NUMERIC_CHARACTERS=''.,''');
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_MONTHS_TEXT"(value IN YMINTERVAL_UNCONSTRAINED) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN "REPL"."REPL_NUMBER_TEXT"(EXTRACT(YEAR FROM value) * 12 + EXTRACT(MONTH FROM value));
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_SECONDS_TEXT"(value IN DSINTERVAL_UNCONSTRAINED) RETURN VARCHAR2 DETERMINISTIC AUTHID DEFINER
IS
BEGIN
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN "REPL"."REPL_NUMBER_TEXT"(EXTRACT(DAY FROM value)) || ' '
        || "REPL"."REPL_NUMBER_TEXT"(EXTRACT(HOUR FROM value) * 3600 + EXTRACT(MINUTE FROM value) * 60 + EXTRACT(SECOND FROM value));
END;
/
CREATE OR REPLACE PROCEDURE "REPL"."REPL_APPEND"(image IN OUT NOCOPY CLOB, buffer IN OUT NOCOPY VARCHAR2, piece IN VARCHAR2) AUTHID DEFINER
IS
BEGIN
    IF NVL(LENGTHB(buffer), 0) + LENGTHB(piece) > 32000 THEN
        IF image IS NULL THEN
            DBMS_LOB.CREATETEMPORARY(image, TRUE);
        END IF;
        IF buffer IS NOT NULL THEN
            DBMS_LOB.APPEND(image, TO_CLOB(buffer));
        END IF;
        buffer := piece;
    ELSE
        buffer := buffer || piece;
    END IF;
END;
/
CREATE OR REPLACE PROCEDURE "REPL"."REPL_APPEND_LONG"(image IN OUT NOCOPY CLOB, buffer IN OUT NOCOPY VARCHAR2, piece IN CLOB) AUTHID DEFINER
IS
BEGIN
    IF image IS NULL THEN
        DBMS_LOB.CREATETEMPORARY(image, TRUE);
    END IF;
    IF buffer IS NOT NULL THEN
        DBMS_LOB.APPEND(image, TO_CLOB(buffer));
        buffer := NULL;
    END IF;
    DBMS_LOB.APPEND(image, piece);
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_WHOLE"(image IN CLOB, buffer IN VARCHAR2) RETURN CLOB AUTHID DEFINER
IS
    made CLOB := image;
BEGIN
    IF made IS NULL THEN
        RETURN buffer;
    END IF;
    IF buffer IS NOT NULL THEN
        DBMS_LOB.APPEND(made, TO_CLOB(buffer));
    END IF;
    RETURN made;
END;
/
CREATE OR REPLACE PROCEDURE "REPL"."REPL_DEBUG"(line IN VARCHAR2) AUTHID DEFINER
IS
BEGIN
    INSERT INTO "REPL"."REPL_DEBUG_TABLE" (repl_key, line) VALUES ("REPL"."REPL_SEQ".NEXTVAL, SUBSTRB(line, 1, 4000));
END;
/
CREATE OR REPLACE PROCEDURE "REPL"."REPL_LOSE"(relation IN NUMBER) AUTHID DEFINER
IS
    PRAGMA AUTONOMOUS_TRANSACTION;
BEGIN
    UPDATE "REPL"."REPL_TABLES" SET lost = 'Y' WHERE relid = relation AND lost = 'N';
    COMMIT;
END;
/
CREATE OR REPLACE PROCEDURE "REPL"."REPL_NOTE_SEGMENTS"(relation IN NUMBER) AUTHID DEFINER
IS
BEGIN
    DELETE FROM "REPL"."REPL_SEGMENTS" WHERE relid = relation;
    INSERT INTO "REPL"."REPL_SEGMENTS" (relid, object_id, data_object_id)
    SELECT found.relid, found.object_id, found.data_object_id FROM "REPL"."REPL_STORED" found WHERE found.relid = relation;
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_DEFINITION"(relation IN NUMBER) RETURN CLOB AUTHID DEFINER
IS
    owned   VARCHAR2(128 BYTE);
    called  VARCHAR2(128 BYTE);
    given   VARCHAR2(32767);
    image   CLOB;
    buffer  VARCHAR2(32767);
BEGIN
    SELECT made.owner, made.object_name INTO owned, called
    FROM sys.dba_objects made
    WHERE made.object_id = relation AND made.object_type = 'TABLE';
    "REPL"."REPL_APPEND"(image, buffer, "REPL"."REPL_COL2XML"('"schema', owned));
    "REPL"."REPL_APPEND"(image, buffer, "REPL"."REPL_COL2XML"('"table', called));
    FOR keyed IN (
        SELECT part.column_name, part.position, known.deferrable
        FROM all_constraints known
        JOIN all_cons_columns part ON part.owner = known.owner AND part.constraint_name = known.constraint_name
        WHERE known.owner = owned AND known.table_name = called AND known.constraint_type = 'P' AND known.status = 'ENABLED'
        ORDER BY part.position
    ) LOOP
        "REPL"."REPL_APPEND"(image, buffer, "REPL"."REPL_COL2XML"('"key' || TO_CHAR(keyed.position), keyed.deferrable || '"' || keyed.column_name));
    END LOOP;
    FOR part IN (
        SELECT column_name, data_type, data_type_owner, data_length, data_precision, data_scale, char_length, char_used, nullable,
               virtual_column, hidden_column, data_default
        FROM all_tab_cols
        WHERE owner = owned AND table_name = called AND (hidden_column = 'NO' OR user_generated = 'YES')
        ORDER BY internal_column_id
    ) LOOP
        given := part.data_default;
        "REPL"."REPL_APPEND"(image, buffer, "REPL"."REPL_COL2XML"(part.column_name,
            TO_CHAR(part.data_length) || '"' || TO_CHAR(part.data_precision) || '"' || TO_CHAR(part.data_scale) || '"'
            || TO_CHAR(part.char_length) || '"' || part.char_used || '"' || part.nullable || '"' || part.virtual_column || '"'
            || part.hidden_column || '"' || part.data_type_owner || '"' || part.data_type || '"' || SUBSTRB(given, 1, 2000)));
    END LOOP;
    RETURN "REPL"."REPL_WHOLE"(image, buffer);
END;
/
CREATE OR REPLACE PROCEDURE "REPL"."REPL_NOTE_DDL"(event IN VARCHAR2, owner IN VARCHAR2, name IN VARCHAR2, statement IN VARCHAR2) AUTHID DEFINER
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
    FROM "REPL"."REPL_TABLES" entry
    JOIN sys.dba_objects made ON made.object_id = entry.relid AND made.object_type = 'TABLE'
    WHERE made.owner = owned AND made.object_name = called;
    IF relation IS NULL THEN
        SELECT MAX(known.relid) INTO relation FROM "REPL"."REPL_CURRENT_TABLES" known WHERE known.schemaname = owned AND known.relname = called;
    END IF;
    IF relation IS NULL THEN
        SELECT COUNT(*) INTO wished
        FROM "REPL"."REPL_WANTED" entry
        WHERE entry.schemaname = owner AND entry.excluded = 'N'
          AND (entry.tablename = name OR (entry.wildcard = 'Y' AND (entry.tablename = ' ' OR INSTR(name, entry.tablename) = 1)));
        IF wished = 0 THEN
            RETURN;
        END IF;
    ELSIF statement = 'UNREADABLE'
        OR REGEXP_LIKE(statement, '(truncate|drop|exchange)[[:space:]]+(sub)?partition', 'i')
        OR REGEXP_LIKE(statement, 'disable[[:space:]]+all[[:space:]]+triggers', 'i') THEN
        "REPL"."REPL_LOSE"(relation);
    ELSIF event = 'TRUNCATE' THEN
        "REPL"."REPL_NOTE_SEGMENTS"(relation);
    END IF;
    IF NOT REGEXP_LIKE(statement, 'password|identified', 'i') THEN
        said := SUBSTRB(statement, 1, 4000);
    END IF;
    IF event <> 'TRUNCATE' AND relation IS NOT NULL THEN
        BEGIN
            SELECT COUNT(*) INTO carried FROM "REPL"."REPL_SETTINGS" setting WHERE setting.detection = 'Y';
            IF carried > 0 THEN
                image := "REPL"."REPL_DEFINITION"(relation);
            END IF;
        EXCEPTION
            WHEN OTHERS THEN
                image := NULL;
        END;
    END IF;
    INSERT INTO "REPL"."REPL_ITEMS" (repl_key, trans_key, tablename, db_action, db_schema, content, oldcontent, relid)
    VALUES ("REPL"."REPL_SEQ".NEXTVAL, DBMS_TRANSACTION.LOCAL_TRANSACTION_ID(TRUE), name, CASE event WHEN 'RENAME' THEN 'ALTER' ELSE event END,
            owner, image, said, NVL(relation, 0));
EXCEPTION
    WHEN OTHERS THEN
        "REPL"."REPL_LOSE"(relation);
END;
/
CREATE OR REPLACE PROCEDURE "REPL"."REPL_FREE" AUTHID DEFINER
IS
    still  PLS_INTEGER;
    failed VARCHAR2(2000 BYTE);
BEGIN
    FOR silent IN (
        SELECT entry.relid
        FROM "REPL"."REPL_TABLES" entry
        WHERE entry.status = 'OK' AND entry.lost = 'N' AND entry.actions <> 'NONE'
          AND NOT EXISTS (
              SELECT 1 FROM user_triggers captured
              WHERE captured.trigger_name = entry.trigger_name AND captured.status = 'ENABLED'
          )
    ) LOOP
        "REPL"."REPL_LOSE"(silent.relid);
    END LOOP;
    FOR broken IN (
        SELECT entry.relid, captured.trigger_name
        FROM "REPL"."REPL_TABLES" entry
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
            "REPL"."REPL_LOSE"(broken.relid);
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
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_JSON_TEXT"(value IN JSON) RETURN CLOB AUTHID DEFINER
IS
    made CLOB;
BEGIN
    SELECT JSON_SERIALIZE(value RETURNING CLOB) INTO made FROM dual;
    RETURN made;
END;
/
INSERT INTO "REPL"."REPL_STATE" (only_row) SELECT 1 FROM dual WHERE NOT EXISTS (SELECT 1 FROM "REPL"."REPL_STATE")
/
INSERT INTO "REPL"."REPL_FLUSHED" (only_row) SELECT 1 FROM dual WHERE NOT EXISTS (SELECT 1 FROM "REPL"."REPL_FLUSHED")
/
BEGIN
    DBMS_SCHEDULER.CREATE_JOB(
        job_name        => '"REPL"."REPL_JOB"',
        job_type        => 'STORED_PROCEDURE',
        job_action      => '"REPL"."REPL_FREE"',
        repeat_interval => 'FREQ=SECONDLY;INTERVAL=10',
        enabled         => TRUE);
END;
/
CREATE OR REPLACE FUNCTION "REPL"."REPL_IMG4711"(
    p1_ IN NUMBER,
    p2_ IN NVARCHAR2,
    p3_ IN DATE,
    p4_ IN XMLTYPE) RETURN CLOB AUTHID DEFINER
IS
    image_  CLOB;
    buffer_ VARCHAR2(32767);
BEGIN
    "REPL"."REPL_APPEND"(image_, buffer_, "REPL"."REPL_COL2XML"('ID', "REPL"."REPL_NUMBER_TEXT"(p1_)));
    "REPL"."REPL_APPEND"(image_, buffer_, "REPL"."REPL_NCOL2XML"('it''s', p2_));
    "REPL"."REPL_APPEND"(image_, buffer_, "REPL"."REPL_COL2XML"('D', "REPL"."REPL_MOMENT_TEXT"(CAST(p3_ AS TIMESTAMP))));
    "REPL"."REPL_APPEND_LONG"(image_, buffer_, "REPL"."REPL_CLOB2XML"('X', CASE WHEN p4_ IS NOT NULL THEN p4_.GETCLOBVAL() END));
    RETURN "REPL"."REPL_WHOLE"(image_, buffer_);
END;
/
CREATE OR REPLACE TRIGGER "REPL"."REPL_CAP4711"
FOR INSERT OR UPDATE OR DELETE ON "APP"."Flüge"
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
            INSERT INTO "REPL"."REPL_ITEMS" (repl_key, trans_key, tablename, guid, db_action, db_schema, content, oldcontent, relid)
            VALUES ("REPL"."REPL_SEQ".NEXTVAL, trans_key_, 'Flüge', guids_(i), actions_(i), 'APP', news_(i), olds_(i), 4711);
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
        ELSIF INSERTING THEN
            keep_('INSERT', "REPL"."REPL_IMG4711"(:NEW."ID", :NEW."it's", :NEW."D", :NEW."X"), NULL, ROWIDTOCHAR(:NEW.ROWID));
        ELSIF UPDATING THEN
            IF :OLD."ID" = :NEW."ID" THEN
                keep_('UPDATE', "REPL"."REPL_IMG4711"(:NEW."ID", :NEW."it's", :NEW."D", :NEW."X"), NULL, ROWIDTOCHAR(:NEW.ROWID));
            ELSE
                keep_('UPDATE', "REPL"."REPL_IMG4711"(:NEW."ID", :NEW."it's", :NEW."D", :NEW."X"), "REPL"."REPL_IMG4711"(:OLD."ID", :OLD."it's", :OLD."D", :OLD."X"), ROWIDTOCHAR(:NEW.ROWID));
            END IF;
        ELSIF DELETING THEN
            keep_('DELETE', NULL, "REPL"."REPL_IMG4711"(:OLD."ID", :OLD."it's", :OLD."D", :OLD."X"), NULL);
        END IF;
    EXCEPTION
        WHEN OTHERS THEN
            lost_ := TRUE;
            "REPL"."REPL_LOSE"(4711);
    END AFTER EACH ROW;

    AFTER STATEMENT IS
    BEGIN
        IF actions_.COUNT > 0 THEN
            write_;
        END IF;
        "REPL"."REPL_DEBUG"('statement on ' || 'Flüge' || ' by transaction ' || DBMS_TRANSACTION.LOCAL_TRANSACTION_ID(TRUE));
    EXCEPTION
        WHEN OTHERS THEN
            "REPL"."REPL_LOSE"(4711);
    END AFTER STATEMENT;
END;
/
CREATE OR REPLACE TRIGGER "REPL"."REPL_DDL107"
AFTER CREATE OR ALTER OR TRUNCATE OR RENAME ON "APP".SCHEMA
DECLARE
    pieces_    ora_name_list_t;
    statement_ VARCHAR2(32767);
BEGIN
    IF ora_dict_obj_type = 'TABLE' THEN
        BEGIN
            FOR i IN 1 .. NVL(ora_sql_txt(pieces_), 0) LOOP
                statement_ := statement_ || pieces_(i);
            END LOOP;
        EXCEPTION
            WHEN OTHERS THEN
                statement_ := 'UNREADABLE';
        END;
        "REPL"."REPL_NOTE_DDL"(ora_sysevent, ora_dict_obj_owner, ora_dict_obj_name, statement_);
    END IF;
END;
/
CREATE OR REPLACE TRIGGER "REPL"."REPL_DRP107"
BEFORE DROP ON "APP".SCHEMA
BEGIN
    IF ora_dict_obj_type = 'TABLE' THEN
        "REPL"."REPL_NOTE_DDL"(ora_sysevent, ora_dict_obj_owner, ora_dict_obj_name, 'DROP TABLE');
    END IF;
END;
/
GRANT CREATE SESSION, CREATE TABLE, CREATE SEQUENCE, CREATE VIEW, CREATE PROCEDURE, CREATE TRIGGER, CREATE JOB, CREATE ANY TRIGGER TO "REPL";
GRANT EXECUTE ON sys.dbms_flashback TO "REPL";
GRANT SELECT ON sys.dba_objects TO "REPL";
ALTER USER "REPL" QUOTA UNLIMITED ON "USERS";
GRANT SELECT, FLASHBACK ON "APP"."Flüge" TO "REPL"