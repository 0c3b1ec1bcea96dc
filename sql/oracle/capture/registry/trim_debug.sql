-- Lines of tables that are debugged, but for those of the last million keys. Manual: SQL Language Reference, "DELETE".
DELETE FROM {debug_table} WHERE repl_key < (SELECT MAX(newest.repl_key) - 1000000 FROM {debug_table} newest)
