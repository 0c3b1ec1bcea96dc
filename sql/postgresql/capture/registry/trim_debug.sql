-- Lines of tables that are debugged, but for those of the last million keys.
DELETE FROM {debug_table} WHERE repl_key < (SELECT max(repl_key) FROM {debug_table}) - 1000000
