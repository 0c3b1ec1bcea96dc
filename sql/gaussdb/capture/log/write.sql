-- A row that is gone before its transaction commits: the commit of one that wrote nothing would not flush the server's log.
INSERT INTO {tables} (schemaname, tablename, actions, relid, layout, described, identity) VALUES ('', '', '', 0, 0, '', '')
