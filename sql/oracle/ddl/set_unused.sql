-- Whole and at once, whatever the table's size, as DROP COLUMN is not; a DBA frees the room by DROP UNUSED COLUMNS. It goes with no other
-- change in one statement (ORA-12987). Manual: SQL Language Reference, "ALTER TABLE", "drop_column_clause".
ALTER TABLE {table} SET UNUSED ({columns})
