-- capture/registry/accept
UPDATE "REPL"."REPL_STATE" SET incarnation = RAWTOHEX(SYS_GUID()), segment = :segment, sha256 = :sha256
/
-- capture/registry/add_current
INSERT INTO "REPL"."REPL_CURRENT_TABLES" (relid, schemaname, relname, definition) VALUES (:relation, :schema, :name, :definition)
/
-- capture/registry/add_layout
INSERT INTO "REPL"."REPL_LAYOUTS" (repl_key, relid, schemaname, tablename, columns, key_columns, deferred)
VALUES (:layout, :relation, :schema, :name, :columns, :key, :deferred)
/
-- capture/registry/add_segments
INSERT INTO "REPL"."REPL_SEGMENTS" (relid, object_id, data_object_id)
SELECT found.relid, found.object_id, found.data_object_id
FROM "REPL"."REPL_STORED" found
WHERE NOT EXISTS (
    SELECT 1 FROM "REPL"."REPL_SEGMENTS" known WHERE known.relid = found.relid AND known.object_id = found.object_id
)
  AND (
      found.object_id = found.data_object_id
      OR NOT EXISTS (SELECT 1 FROM "REPL"."REPL_SEGMENTS" known WHERE known.relid = found.relid)
  )
/
-- capture/registry/add_settings
INSERT INTO "REPL"."REPL_SETTINGS" (detection, initial_content) VALUES (:detection, :initial_content)
/
-- capture/registry/add_wanted
INSERT INTO "REPL"."REPL_WANTED" (schemaname, tablename, wildcard, excluded, actions, trigger_name, debug, old_images)
VALUES (:schema, :name, :wildcard, :excluded, :actions, :trigger_, :debug, :old_images)
/
-- capture/registry/altered_at
SELECT MIN(item.repl_key) FROM "REPL"."REPL_ITEMS" item
WHERE item.relid = :relation AND item.db_action = 'ALTER' AND item.repl_key > :layout AND item.content IS NULL
/
-- capture/registry/carries_ddl
SELECT setting.detection FROM "REPL"."REPL_SETTINGS" setting
/
-- capture/registry/claim
UPDATE "REPL"."REPL_STATE" SET store = :store WHERE store = :holder
/
-- capture/registry/clear_settings
DELETE FROM "REPL"."REPL_SETTINGS"
/
-- capture/registry/clear_wanted
DELETE FROM "REPL"."REPL_WANTED"
/
-- capture/registry/finish
UPDATE "REPL"."REPL_TABLES" SET status = 'OK' WHERE relid = :relation
/
-- capture/registry/firing
SELECT captured.trigger_name FROM all_triggers captured WHERE captured.owner = :schema AND captured.status = 'ENABLED'
/
-- capture/registry/forget_current
DELETE FROM "REPL"."REPL_CURRENT_TABLES" entry
WHERE entry.relid = :relation OR (entry.schemaname = :schema AND entry.relname = :name)
/
-- capture/registry/forget_layouts
DELETE FROM "REPL"."REPL_LAYOUTS" recorded
WHERE NOT EXISTS (SELECT 1 FROM "REPL"."REPL_TABLES" entry WHERE entry.relid = recorded.relid)
  AND NOT EXISTS (SELECT 1 FROM "REPL"."REPL_ITEMS" item WHERE item.relid = recorded.relid)
/
-- capture/registry/forget_segments
DELETE FROM "REPL"."REPL_SEGMENTS" WHERE relid NOT IN (SELECT entry.relid FROM "REPL"."REPL_TABLES" entry)
/
-- capture/registry/image_used
SELECT COUNT(*)
FROM user_dependencies needed
WHERE needed.name = :trigger_ AND needed.type = 'TRIGGER' AND needed.referenced_type = 'FUNCTION'
  AND needed.referenced_owner = :schema AND needed.referenced_name = :image
/
-- capture/registry/layouts
SELECT recorded.repl_key, recorded.relid, recorded.schemaname, recorded.tablename, recorded.columns, recorded.key_columns,
       recorded.deferred
FROM "REPL"."REPL_LAYOUTS" recorded
ORDER BY recorded.repl_key
/
-- capture/registry/lock_lost
SELECT entry.lost FROM "REPL"."REPL_TABLES" entry WHERE entry.schemaname = :schema AND entry.tablename = :name FOR UPDATE
/
-- capture/registry/lock_segments
LOCK TABLE "REPL"."REPL_SEGMENTS" IN EXCLUSIVE MODE WAIT 60
/
-- capture/registry/lock_state
SELECT epoch FROM "REPL"."REPL_STATE" FOR UPDATE
/
-- capture/registry/lose
UPDATE "REPL"."REPL_TABLES" SET lost = 'Y' WHERE relid = :relation AND lost = 'N'
/
-- capture/registry/next_key
SELECT "REPL"."REPL_SEQ".NEXTVAL FROM dual
/
-- capture/registry/note_drop
BEGIN
    INSERT INTO "REPL"."REPL_ITEMS" (repl_key, trans_key, tablename, db_action, db_schema, content, relid)
    VALUES ("REPL"."REPL_SEQ".NEXTVAL, DBMS_TRANSACTION.LOCAL_TRANSACTION_ID(TRUE), :name, 'ALTER', :schema, "REPL"."REPL_DEFINITION"(:relation), :relation);
END;
/
-- capture/registry/note_segments
BEGIN
    "REPL"."REPL_NOTE_SEGMENTS"(:relation);
END;
/
-- capture/registry/record
UPDATE "REPL"."REPL_STATE" SET segment = :segment, sha256 = :sha256
/
-- capture/registry/register
INSERT INTO "REPL"."REPL_TABLES" (schemaname, tablename, actions, status, repl_key, trigger_name, debug, relid, old_images, lost)
VALUES (:schema, :name, :actions, 'CREATING', :layout, :trigger_, :debug, :relation, :old_images, :lost)
/
-- capture/registry/register_again
UPDATE "REPL"."REPL_TABLES"
SET actions = :actions, status = 'CREATING', repl_key = :layout, trigger_name = :trigger_, debug = :debug, relid = :relation,
    old_images = :old_images, lost = :lost
WHERE schemaname = :schema AND tablename = :name
/
-- capture/registry/registered
SELECT entry.schemaname, entry.tablename, entry.actions, entry.trigger_name, entry.debug, entry.old_images, entry.lost,
       entry.status, entry.relid, recorded.repl_key, recorded.columns, recorded.key_columns, recorded.deferred,
       entry.repl_key
FROM "REPL"."REPL_TABLES" entry
JOIN "REPL"."REPL_LAYOUTS" recorded ON recorded.relid = entry.relid
WHERE recorded.repl_key = (SELECT MAX(other.repl_key) FROM "REPL"."REPL_LAYOUTS" other WHERE other.relid = entry.relid)
/
-- capture/registry/rename
UPDATE "REPL"."REPL_TABLES" SET schemaname = :schema, tablename = :name WHERE relid = :relation
/
-- capture/registry/restored
SELECT captured.trigger_name, captured.table_owner, captured.table_name
FROM user_triggers captured
WHERE captured.trigger_name LIKE 'BIN$%' AND captured.table_name NOT LIKE 'BIN$%'
  AND EXISTS (
      SELECT 1 FROM user_dependencies needed
      WHERE needed.name = captured.trigger_name AND needed.type = 'TRIGGER'
        AND needed.referenced_owner = :schema AND needed.referenced_name = :lose
  )
/
-- capture/registry/rewritten
SELECT known.relid
FROM "REPL"."REPL_SEGMENTS" known
WHERE EXISTS (SELECT 1 FROM "REPL"."REPL_STORED" found WHERE found.relid = known.relid)
  AND NOT EXISTS (
      SELECT 1 FROM "REPL"."REPL_STORED" found
      WHERE found.relid = known.relid AND found.object_id = known.object_id AND found.data_object_id = known.data_object_id
  )
UNION
SELECT found.relid
FROM "REPL"."REPL_STORED" found
WHERE found.object_id <> found.data_object_id
  AND EXISTS (SELECT 1 FROM "REPL"."REPL_SEGMENTS" known WHERE known.relid = found.relid)
  AND NOT EXISTS (
      SELECT 1 FROM "REPL"."REPL_SEGMENTS" known WHERE known.relid = found.relid AND known.object_id = found.object_id
  )
/
-- capture/registry/set_version
UPDATE "REPL"."REPL_STATE" SET version = :version
/
-- capture/registry/state
SELECT incarnation, segment, sha256, epoch, version, store FROM "REPL"."REPL_STATE"
/
-- capture/registry/take_over
UPDATE "REPL"."REPL_STATE" SET epoch = :epoch
/
-- capture/registry/trim_debug
DELETE FROM "REPL"."REPL_DEBUG_TABLE" WHERE repl_key < (SELECT MAX(newest.repl_key) - 1000000 FROM "REPL"."REPL_DEBUG_TABLE" newest)
/
-- capture/registry/unregister
DELETE FROM "REPL"."REPL_TABLES" entry WHERE entry.schemaname = :schema AND entry.tablename = :name
/
-- capture/registry/wanted
SELECT entry.schemaname, entry.tablename, entry.wildcard, entry.excluded FROM "REPL"."REPL_WANTED" entry
/
-- capture/watch/lock
LOCK TABLE "APP"."T" IN SHARE MODE WAIT 60
/
-- capture/watch/rename
ALTER TRIGGER "REPL"."REPL_CAP7" RENAME TO "MINE"
/
-- capture/queue/any
SELECT 1 FROM "REPL"."REPL_ITEMS" item WHERE ROWNUM = 1
/
-- capture/queue/beyond
SELECT COUNT(*)
FROM "REPL"."REPL_ITEMS" AS OF SCN :scn item
WHERE item.repl_key > :last_key
  AND EXISTS (SELECT 1 FROM "REPL"."REPL_ITEMS" AS OF SCN :shown earlier WHERE earlier.repl_key = item.repl_key)
/
-- capture/queue/commit_durably
COMMIT WRITE IMMEDIATE WAIT
/
-- capture/queue/count
SELECT COUNT(*) FROM "REPL"."REPL_ITEMS" item WHERE ROWNUM <= :most
/
-- capture/queue/definitions
SELECT item.repl_key, item.relid, item.content, item.oldcontent
FROM "REPL"."REPL_ITEMS" item
WHERE item.db_action = 'ALTER' AND item.content IS NOT NULL
ORDER BY item.repl_key
/
-- capture/queue/flush
UPDATE "REPL"."REPL_FLUSHED" SET times = times + 1
/
-- capture/queue/long
SELECT kept."L", kept."ID" FROM "APP"."T" AS OF SCN :scn kept WHERE kept.ROWID = CHARTOROWID(:place)
/
-- capture/queue/named
SELECT made.owner, made.object_name
FROM sys.dba_objects made
WHERE made.object_id = :relation AND made.object_type = 'TABLE' AND made.object_name NOT LIKE 'BIN$%'
/
-- capture/queue/noted
SELECT item.repl_key FROM "REPL"."REPL_ITEMS" item WHERE item.db_action IN ('CREATE', 'ALTER', 'DROP') AND item.relid <> 0
/
-- capture/queue/purge
DELETE FROM "REPL"."REPL_ITEMS" item WHERE item.repl_key = :1 AND item.trans_key = :2
/
-- capture/queue/purge_all
DELETE FROM "REPL"."REPL_ITEMS"
/
-- capture/queue/queued_as_of
SELECT DISTINCT trans_key FROM "REPL"."REPL_ITEMS" AS OF SCN :scn
/
-- capture/queue/scn
SELECT TO_CHAR(DBMS_FLASHBACK.GET_SYSTEM_CHANGE_NUMBER) FROM dual
/
-- capture/queue/slice
SELECT MIN(summed.last_key)
FROM (
    SELECT ends.last_key, SUM(ends.changes) OVER (ORDER BY ends.last_key) AS so_far
    FROM (
        SELECT MAX(item.repl_key) AS last_key, COUNT(*) AS changes
        FROM "REPL"."REPL_ITEMS" AS OF SCN :scn item
        WHERE EXISTS (SELECT 1 FROM "REPL"."REPL_ITEMS" AS OF SCN :shown earlier WHERE earlier.repl_key = item.repl_key)
        GROUP BY item.trans_key
    ) ends
) summed
WHERE summed.so_far >= :most
/
-- capture/queue/sweep
SELECT ends.last_key, item.trans_key, item.repl_key, item.relid, item.db_action, item.guid, item.content, item.oldcontent
FROM "REPL"."REPL_ITEMS" AS OF SCN :scn item
JOIN (
    SELECT other.trans_key, MAX(other.repl_key) AS last_key
    FROM "REPL"."REPL_ITEMS" AS OF SCN :scn other
    WHERE EXISTS (SELECT 1 FROM "REPL"."REPL_ITEMS" AS OF SCN :shown earlier WHERE earlier.repl_key = other.repl_key)
    GROUP BY other.trans_key
) ends ON ends.trans_key = item.trans_key
WHERE ends.last_key <= :last_key
ORDER BY ends.last_key, item.repl_key
/
-- capture/queue/unswept
SELECT COUNT(*)
FROM "REPL"."REPL_ITEMS" AS OF SCN :scn shown
WHERE EXISTS (SELECT 1 FROM "REPL"."REPL_ITEMS" item WHERE item.repl_key = shown.repl_key)
/
-- capture/remove/job
BEGIN
    DBMS_SCHEDULER.DROP_JOB(job_name => '"REPL"."REPL_JOB"', force => TRUE);
END;
/
-- capture/remove/object
DROP FUNCTION "REPL"."REPL_IMG1"
/
-- capture/remove/table
DROP TABLE "REPL"."REPL_IMG1" PURGE
/
-- capture/statements/begin
INSERT INTO "REPL"."REPL_STATEMENTS" (id) VALUES (:id)
/
-- capture/statements/beside
SELECT 'the trigger ' || acting.trigger_name AS obstacle
FROM all_triggers acting
WHERE acting.table_owner = :schema AND acting.table_name = :name AND acting.status = 'ENABLED'
  AND NOT (acting.owner = :home AND acting.trigger_name = :trigger_)
UNION ALL
SELECT 'the foreign key ' || referring.constraint_name || ' of ' || referring.table_name
FROM all_constraints known
JOIN all_constraints referring ON referring.r_owner = known.owner AND referring.r_constraint_name = known.constraint_name
WHERE known.owner = :schema AND known.table_name = :name AND referring.constraint_type = 'R' AND referring.status = 'ENABLED'
  AND referring.delete_rule <> 'NO ACTION'
UNION ALL
SELECT 'the computed column ' || part.column_name
FROM all_tab_cols part
WHERE part.owner = :schema AND part.table_name = :name AND part.virtual_column = 'YES'
UNION ALL
SELECT 'the column ' || part.column_name || ', whose NULL is replaced'
FROM all_tab_cols part
WHERE part.owner = :schema AND part.table_name = :name AND part.default_on_null = 'YES'
UNION ALL
SELECT 'the policy ' || guarding.policy_name
FROM all_policies guarding
WHERE guarding.object_owner = :schema AND guarding.object_name = :name AND guarding.enable = 'YES'
/
-- capture/statements/done
UPDATE "REPL"."REPL_STATEMENTS" SET committed = 'Y' WHERE id = :id
/
-- capture/statements/hold
SELECT known.committed FROM "REPL"."REPL_STATEMENTS" known WHERE known.id = :id FOR UPDATE NOWAIT
/
-- capture/statements/lock
LOCK TABLE "APP"."T" IN EXCLUSIVE MODE WAIT 5
/
-- capture/statements/place
UPDATE "REPL"."REPL_STATEMENTS" SET scn = :scn WHERE id = :id AND scn IS NULL
/
-- capture/statements/record
INSERT INTO "REPL"."REPL_ITEMS" (repl_key, trans_key, tablename, db_action, db_schema, content, relid)
VALUES ("REPL"."REPL_SEQ".NEXTVAL, :trans_key, :name, 'STATEMENT', :schema, :content, 0)
/
-- capture/statements/swept
SELECT known.scn FROM "REPL"."REPL_STATEMENTS" known WHERE known.id = :id AND known.scn IS NOT NULL
/
-- capture/statements/take_out
DELETE FROM "REPL"."REPL_ITEMS" item WHERE item.trans_key = :trans_key
/
-- capture/statements/touched
SELECT DISTINCT item.relid FROM "REPL"."REPL_ITEMS" item WHERE item.trans_key = :trans_key
/
-- read/active
SELECT COUNT(*) FROM sys.v_$session held
WHERE held.type = 'USER' AND held.status = 'ACTIVE' AND (held.program IS NULL OR held.program NOT LIKE 'sluice-%')
/
-- read/called
SELECT made.owner, made.object_name FROM sys.dba_objects made WHERE made.object_id = :relation AND made.object_type = 'TABLE'
/
-- read/cuts
SELECT ROWIDTOCHAR(MIN(piece.place))
FROM (
    SELECT source.ROWID AS place, NTILE(4) OVER (ORDER BY source.ROWID) AS part
    FROM "APP"."T" SAMPLE BLOCK (0.500000) source
) piece
GROUP BY piece.part
ORDER BY MIN(piece.place)
/
-- read/end
SELECT TO_CHAR(source."K0", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''') AS "C0", source."K1" AS "C1", source."K2" AS "C2", TO_CHAR(source."K3", 'SYYYY-MM-DD HH24:MI:SS') AS "C3", TO_CHAR(source."K4", 'SYYYY-MM-DD HH24:MI:SS.FF9') AS "C4", source."K5" AS "C5" FROM "APP"."T" AS OF SCN :scn source WHERE 1 = 1 AND (source."K0" > :key0 OR (source."K0" = :key0 AND (source."K1" > :key1 OR (source."K1" = :key1 AND (source."K2" > UNISTR(:key2) OR (source."K2" = UNISTR(:key2) AND (source."K3" > TO_DATE(:key3, 'SYYYY-MM-DD HH24:MI:SS') OR (source."K3" = TO_DATE(:key3, 'SYYYY-MM-DD HH24:MI:SS') AND (source."K4" > TO_TIMESTAMP(:key4, 'SYYYY-MM-DD HH24:MI:SS.FF9') OR (source."K4" = TO_TIMESTAMP(:key4, 'SYYYY-MM-DD HH24:MI:SS.FF9') AND source."K5" > HEXTORAW(:key5))))))))))) AND (source."K0" < :key6 OR (source."K0" = :key6 AND source."K1" <= :key7))
ORDER BY source."K0", source."K1", source."K2", source."K3", source."K4", source."K5" OFFSET :before ROWS FETCH NEXT 1 ROWS ONLY
/
-- read/filled
SELECT 1 FROM "APP"."T" AS OF SCN :scn source WHERE ROWNUM = 1
/
-- read/key_cuts
SELECT piece."C0", piece."C1"
FROM (
    SELECT TO_CHAR(source."K0", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''') AS "C0", source."K1" AS "C1", source."K2" AS "C2", TO_CHAR(source."K3", 'SYYYY-MM-DD HH24:MI:SS') AS "C3", TO_CHAR(source."K4", 'SYYYY-MM-DD HH24:MI:SS.FF9') AS "C4", source."K5" AS "C5", ROW_NUMBER() OVER (ORDER BY source."K0", source."K1", source."K2", source."K3", source."K4", source."K5") AS numbered, COUNT(*) OVER () AS every_one
    FROM "APP"."T" SAMPLE BLOCK (0.500000) source
) piece
WHERE MOD(piece.numbered, CEIL(piece.every_one / 4)) = 0 AND piece.numbered < piece.every_one
ORDER BY piece.numbered
/
-- read/rows
SELECT source."A" AS "C0", source."B" AS "C1", source."C" AS "C2", CASE WHEN DBMS_LOB.GETLENGTH(source."B") = 0 THEN 'E' END AS "E1", CASE WHEN DBMS_LOB.GETLENGTH(source."C") = 0 THEN 'E' END AS "E2" FROM "APP"."T" AS OF SCN :scn source WHERE 1 = 1 AND source.ROWID >= CHARTOROWID(:low) AND source.ROWID < CHARTOROWID(:high)
