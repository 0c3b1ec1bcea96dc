-- catalog/character_set
SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET'
/
-- catalog/obstacles
SELECT 'the trigger ' || acting.trigger_name AS obstacle
FROM all_triggers acting
WHERE acting.table_owner = :schema AND acting.table_name = :name AND acting.status = 'ENABLED'
UNION ALL
SELECT 'the constraint ' || known.constraint_name
FROM all_constraints known
WHERE known.owner = :schema AND known.table_name = :name AND known.status = 'ENABLED'
  AND (
      known.constraint_type IN ('R', 'U')
      OR known.constraint_type = 'C' AND NOT EXISTS (
          SELECT 1 FROM all_tab_cols part
          WHERE part.owner = known.owner AND part.table_name = known.table_name AND part.nullable = 'N'
            AND known.search_condition_vc = '"' || part.column_name || '" IS NOT NULL'
      )
  )
UNION ALL
SELECT 'the foreign key ' || referring.constraint_name || ' of ' || referring.table_name
FROM all_constraints known
JOIN all_constraints referring ON referring.r_owner = known.owner AND referring.r_constraint_name = known.constraint_name
WHERE known.owner = :schema AND known.table_name = :name AND referring.constraint_type = 'R' AND referring.status = 'ENABLED'
UNION ALL
SELECT 'the unique index ' || ordering.index_name
FROM all_indexes ordering
WHERE ordering.table_owner = :schema AND ordering.table_name = :name AND ordering.uniqueness = 'UNIQUE' AND ordering.index_type <> 'LOB'
  AND NOT EXISTS (
      SELECT 1 FROM all_constraints known
      WHERE known.owner = :schema AND known.table_name = :name AND known.constraint_type IN ('P', 'U')
        AND known.index_name = ordering.index_name
  )
UNION ALL
SELECT 'the policy ' || guarding.policy_name
FROM all_policies guarding
WHERE guarding.object_owner = :schema AND guarding.object_name = :name AND guarding.enable = 'YES'
  AND NOT EXISTS (SELECT 1 FROM session_privs held WHERE held.privilege = 'EXEMPT ACCESS POLICY')
UNION ALL
SELECT 'no rows of its own that last' FROM all_tables kept
WHERE kept.owner = :schema AND kept.table_name = :name AND (kept.temporary = 'Y' OR kept.nested = 'YES')
UNION ALL
SELECT 'the query of a view' FROM all_views seen WHERE seen.owner = :schema AND seen.view_name = :name
/
-- catalog/references
SELECT DISTINCT referring.owner, referring.table_name
FROM all_constraints known
JOIN all_constraints referring ON referring.r_owner = known.owner AND referring.r_constraint_name = known.constraint_name
WHERE known.owner = :schema AND known.table_name = :name AND referring.constraint_type = 'R'
  AND NOT (referring.owner = known.owner AND referring.table_name = known.table_name)
ORDER BY referring.owner, referring.table_name
/
-- compare/intended
SELECT 1 FROM "REPL"."SLUICE_INTENT" AS OF SCN :scn held WHERE held.source = :source AND held.slave = :slave
/
-- compare/position
SELECT held.ordinal FROM "REPL"."SLUICE_POSITION" AS OF SCN :scn held WHERE held.source = :source AND held.slave = :slave
/
-- compare/rows
SELECT TO_CHAR(held."id", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''') AS "C0", held."note" AS "C1", held."label" AS "C2", TO_CHAR(SYS_EXTRACT_UTC(held."at"), 'SYYYY-MM-DD HH24:MI:SS.FF9') AS "C3", TO_CHAR(held."day", 'SYYYY-MM-DD HH24:MI:SS') AS "C4", held."image" AS "C5", CASE WHEN DBMS_LOB.GETLENGTH(held."note") = 0 THEN 'E' END AS "E1", CASE WHEN DBMS_LOB.GETLENGTH(held."image") = 0 THEN 'E' END AS "E5" FROM "APP"."T" AS OF SCN :scn held
/
-- ddl/add
ALTER TABLE "APP"."T" ADD ("n" NUMBER(9,2) DEFAULT 1.50 NOT NULL, "d" DATE DEFAULT DATE '2024-02-29' NULL)
/
-- ddl/add_key
ALTER TABLE "APP"."T" ADD PRIMARY KEY ("id", "label")
/
-- ddl/any_row
SELECT 1 FROM "APP"."T" held WHERE ROWNUM = 1
/
-- ddl/carry_out
DECLARE
    PRAGMA AUTONOMOUS_TRANSACTION;
BEGIN
    EXECUTE IMMEDIATE :statement;
END;
/
-- ddl/convert
BEGIN
    UPDATE "APP"."T" SET "SLUICE_ON_THE_WAY_0" = "label";
    EXECUTE IMMEDIATE 'ALTER TABLE "APP"."T" SET UNUSED ("label")';
END;
/
-- ddl/drop_key
ALTER TABLE "APP"."T" DROP PRIMARY KEY
/
-- ddl/forget
DELETE FROM "REPL"."SLUICE_INTENT" held WHERE held.source = :source AND held.slave = :slave
/
-- ddl/intend
INSERT INTO "REPL"."SLUICE_INTENT" (source, slave, command) VALUES (:source, :slave, :intended)
/
-- ddl/intended
SELECT held.command FROM "REPL"."SLUICE_INTENT" held WHERE held.source = :source AND held.slave = :slave
/
-- ddl/intents
CREATE TABLE "REPL"."SLUICE_INTENT" (
    source  VARCHAR2(255 BYTE) NOT NULL,
    slave   VARCHAR2(255 BYTE) NOT NULL,
    command CLOB               NOT NULL,
    PRIMARY KEY (source, slave)
)
/
-- ddl/kind
SELECT made.object_type
FROM all_objects made
WHERE made.owner = :schema AND made.object_name = :name AND made.object_type IN ('VIEW', 'MATERIALIZED VIEW')
/
-- ddl/modify
ALTER TABLE "APP"."T" MODIFY ("label" VARCHAR2(20 CHAR) NOT NULL, "n" NULL, "d" DEFAULT NULL)
/
-- ddl/not_null
SELECT known.search_condition_vc
FROM all_constraints known
WHERE known.owner = :schema AND known.table_name = :name AND known.constraint_type = 'C' AND known.status = 'ENABLED'
/
-- ddl/rename
ALTER TABLE "APP"."T" RENAME TO "ORDER"
/
-- ddl/rename_column
ALTER TABLE "APP"."T" RENAME COLUMN "label" TO "it's"
/
-- ddl/set_unused
ALTER TABLE "APP"."T" SET UNUSED ("day", "image")
/
-- grants/flashback
GRANT EXECUTE ON sys.dbms_flashback TO "REPL"
/
-- grants/quota
ALTER USER "REPL" QUOTA UNLIMITED ON "USERS"
/
-- load/apart
DECLARE
    PRAGMA AUTONOMOUS_TRANSACTION;
BEGIN
    EXECUTE IMMEDIATE 'DROP VIEW "APP"."IT''S"';
END;
/
-- load/begin_again
UPDATE "REPL"."SLUICE_LOADED" held SET held.copied = NULL
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :load_id AND held.copied > 0
/
-- load/carry_over
UPDATE "REPL"."SLUICE_LOADED" held SET held.load_id = :load_id
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :earlier
/
-- load/claim
SELECT held.chunk FROM "REPL"."SLUICE_LOADED" held
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :load_id AND held.chunk = :chunk AND held.copied IS NULL
FOR UPDATE SKIP LOCKED
/
-- load/connected
SELECT held.sid, held.program
FROM sys.v_$session held
WHERE held.username = :schema AND held.type = 'USER' AND (held.program IS NULL OR held.program NOT LIKE 'sluice-%')
ORDER BY held.sid
/
-- load/drop
DROP VIEW "APP"."V"
/
-- load/drop_key
ALTER TABLE "APP"."T" DROP CONSTRAINT "T_KEY"
/
-- load/expect
INSERT INTO "REPL"."SLUICE_LOADED" (source, slave, load_id, chunk, copied) VALUES (:source, :slave, :load_id, :chunk, :copied)
/
-- load/foreign_keys
SELECT known.table_name, known.constraint_name FROM user_constraints known
WHERE known.constraint_type = 'R'
ORDER BY known.table_name, known.constraint_name
/
-- load/forget
DELETE FROM "REPL"."SLUICE_LOADED" held WHERE held.source = :source AND held.slave = :slave
/
-- load/lacking
SELECT held.chunk FROM "REPL"."SLUICE_LOADED" held
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :load_id
  AND held.chunk >= :low AND held.chunk < :high AND held.copied IS NULL
ORDER BY held.chunk
/
-- load/loaded
UPDATE "REPL"."SLUICE_LOADED" held SET held.copied = :copied
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :load_id AND held.chunk = :chunk
/
-- load/progress
SELECT held.chunk, held.copied FROM "REPL"."SLUICE_LOADED" held
WHERE held.source = :source AND held.slave = :slave AND held.load_id = :load_id AND held.copied IS NOT NULL
/
-- load/wipeable
SELECT made.object_type, made.object_name
FROM user_objects made
WHERE made.object_type IN ('TRIGGER', 'MATERIALIZED VIEW', 'VIEW', 'SYNONYM', 'PACKAGE', 'PROCEDURE', 'FUNCTION', 'SEQUENCE', 'INDEX', 'TABLE')
  AND made.object_name NOT LIKE 'BIN$%' AND made.object_name NOT LIKE 'ISEQ$$%'
  AND NOT EXISTS (
      SELECT 1 FROM user_tables kept
      WHERE made.object_type = 'TABLE' AND kept.table_name = made.object_name
        AND (kept.nested = 'YES' OR kept.secondary = 'Y' OR kept.iot_type IN ('IOT_OVERFLOW', 'IOT_MAPPING'))
  )
  AND NOT EXISTS (SELECT 1 FROM user_mviews seen WHERE made.object_type = 'TABLE' AND seen.container_name = made.object_name)
  AND NOT EXISTS (SELECT 1 FROM user_mview_logs seen WHERE made.object_type = 'TABLE' AND seen.log_table = made.object_name)
  AND NOT EXISTS (
      SELECT 1 FROM user_indexes ordering
      WHERE made.object_type = 'INDEX' AND ordering.index_name = made.object_name
        AND (ordering.index_type LIKE 'IOT%' OR ordering.index_type = 'LOB')
  )
  AND NOT EXISTS (SELECT 1 FROM user_constraints known WHERE made.object_type = 'INDEX' AND known.index_name = made.object_name)
  AND (
      made.object_type <> 'TRIGGER' OR EXISTS (
          SELECT 1 FROM user_triggers acting
          WHERE acting.trigger_name = made.object_name AND acting.table_owner = :schema
            AND TRIM(acting.base_object_type) IN ('TABLE', 'VIEW')
      )
  )
ORDER BY made.object_type, made.object_name
/
-- position/advance
UPDATE "REPL"."SLUICE_POSITION" held SET held.segment = :segment, held.ordinal = :ordinal
WHERE held.source = :source AND held.slave = :slave AND held.epoch = :epoch AND held.ordinal = :moved_from
/
-- position/begin
MERGE INTO "REPL"."SLUICE_POSITION" held USING dual ON (held.source = :source AND held.slave = :slave)
WHEN NOT MATCHED THEN INSERT (source, slave) VALUES (:source, :slave)
/
-- position/begin_update
UPDATE "REPL"."SLUICE_POSITION" held SET held.segment = :segment, held.ordinal = :ordinal, held.snapshot = :snapshot
WHERE held.source = :source AND held.slave = :slave AND held.epoch = :epoch
/
-- position/drop
DROP TABLE "APP"."T" PURGE
/
-- position/drop_table
DROP TABLE "APP"."T"
/
-- position/epoch
SELECT held.epoch FROM "REPL"."SLUICE_POSITION" held WHERE held.source = :source AND held.slave = :slave
/
-- position/hold
LOCK TABLE "REPL"."SLUICE_POSITION" IN EXCLUSIVE MODE WAIT 60
/
-- position/holders
SELECT held.chunk FROM "REPL"."SLUICE_LOADED" held WHERE held.source = :source AND held.slave = :slave FOR UPDATE WAIT 60
/
-- position/left
SELECT COUNT(*) FROM "REPL"."SLUICE_POSITION" held
/
-- position/loaded
CREATE TABLE "REPL"."SLUICE_LOADED" (
    source  VARCHAR2(255 BYTE) NOT NULL,
    slave   VARCHAR2(255 BYTE) NOT NULL,
    load_id NUMBER(19)         NOT NULL,
    chunk   NUMBER(10)         NOT NULL,
    copied  NUMBER(19),
    PRIMARY KEY (source, slave, load_id, chunk)
)
/
-- position/lock
SELECT held.epoch, held.segment, held.ordinal, held.snapshot FROM "REPL"."SLUICE_POSITION" held
WHERE held.source = :source AND held.slave = :slave
FOR UPDATE WAIT 60
/
-- position/position
CREATE TABLE "REPL"."SLUICE_POSITION" (
    source   VARCHAR2(255 BYTE) NOT NULL,
    slave    VARCHAR2(255 BYTE) NOT NULL,
    segment  NUMBER(19)         DEFAULT 0 NOT NULL,
    ordinal  NUMBER(19)         DEFAULT 0 NOT NULL,
    snapshot CLOB,
    epoch    NUMBER(19)         DEFAULT 0 NOT NULL,
    PRIMARY KEY (source, slave)
)
/
-- position/remove
DELETE FROM "REPL"."SLUICE_POSITION" held WHERE held.source = :source AND held.slave = :slave
/
-- position/rights
GRANT CREATE SESSION, CREATE TABLE TO "REPL"
/
-- position/tables
SELECT kept.table_name FROM user_tables kept WHERE kept.table_name IN ('SLUICE_POSITION', 'SLUICE_LOADED', 'SLUICE_INTENT')
/
-- position/take_over
UPDATE "REPL"."SLUICE_POSITION" held SET held.epoch = :epoch WHERE held.source = :source AND held.slave = :slave
/
-- position/user
SELECT USER FROM dual
/
-- position/where
SELECT held.ordinal FROM "REPL"."SLUICE_POSITION" held WHERE held.source = :source AND held.slave = :slave
/
-- write/count_alike
SELECT COUNT(*) FROM "APP"."T" held WHERE held."id" = :v0 AND DBMS_LOB.COMPARE(held."note", :v1) = 0 AND held."label" = :v2 AND held."at" = FROM_TZ(:v3, '+00:00') AND held."day" = CAST(:v4 AS DATE) AND DBMS_LOB.COMPARE(held."image", :v5) = 0
/
-- write/count_changed
SELECT COUNT(*) FROM "ORA$PTT_SLUICE_0" staged JOIN "APP"."T" held ON staged."id" = held."id" WHERE staged.sluice_mark = 1
/
-- write/delete_alike
DELETE FROM "APP"."T" held WHERE held."id" = :v0 AND DBMS_LOB.COMPARE(held."note", :v1) = 0 AND held."label" = :v2 AND held."at" = FROM_TZ(:v3, '+00:00') AND held."day" = CAST(:v4 AS DATE) AND DBMS_LOB.COMPARE(held."image", :v5) = 0 AND ROWNUM <= :most
/
-- write/delete_gone
DELETE FROM "APP"."T" held WHERE (held."id") IN (SELECT staged."id" FROM "ORA$PTT_SLUICE_0" staged WHERE staged.sluice_mark = 0)
/
-- write/drop_stage
DROP TABLE "ORA$PTT_SLUICE_0"
/
-- write/empty
DELETE FROM "APP"."T"
/
-- write/hold
LOCK TABLE "APP"."T" IN ROW EXCLUSIVE MODE WAIT 60
/
-- write/insert
INSERT INTO "APP"."T" ("id", "note", "label", "at", "day", "image") VALUES (:1, :2, :3, FROM_TZ(:4, '+00:00'), CAST(:5 AS DATE), :6)
/
-- write/make
CREATE TABLE "APP"."T" ("id" NUMBER(10,0) NOT NULL, "note" CLOB NULL, "label" VARCHAR2(9 CHAR) NULL, "at" TIMESTAMP(6) WITH TIME ZONE NULL, "day" DATE NULL, "image" BLOB NULL, PRIMARY KEY ("id"))
/
-- write/merge
MERGE INTO "APP"."T" held
USING (SELECT "id", "note", "label", "at", "day", "image" FROM "ORA$PTT_SLUICE_0" kept WHERE kept.sluice_mark <> 0) staged
ON (staged."id" = held."id")
WHEN MATCHED THEN UPDATE SET held."note" = staged."note", held."label" = staged."label", held."at" = staged."at", held."day" = staged."day", held."image" = staged."image"
WHEN NOT MATCHED THEN INSERT ("id", "note", "label", "at", "day", "image") VALUES (staged."id", staged."note", staged."label", staged."at", staged."day", staged."image")
/
-- write/stage
CREATE PRIVATE TEMPORARY TABLE "ORA$PTT_SLUICE_0" (
    sluice_mark NUMBER(1) NOT NULL,
    "id" NUMBER(10,0) NOT NULL, "note" CLOB NULL, "label" VARCHAR2(9 CHAR) NULL, "at" TIMESTAMP(6) WITH TIME ZONE NULL, "day" DATE NULL, "image" BLOB NULL
) ON COMMIT PRESERVE DEFINITION
/
-- write/transaction
SELECT DBMS_TRANSACTION.LOCAL_TRANSACTION_ID FROM dual
