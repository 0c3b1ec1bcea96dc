-- Last of its transaction: its key gives the statement its place (R1). Manual: SQL Language Reference, "INSERT", "Sequence
-- Pseudocolumns".
INSERT INTO {items} (repl_key, trans_key, tablename, db_action, db_schema, content, relid)
VALUES ({seq}.NEXTVAL, :trans_key, :name, 'STATEMENT', :schema, :content, 0)
