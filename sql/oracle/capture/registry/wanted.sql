-- Names and beginnings of names that the configuration wants. Manual: SQL Language Reference, "SELECT".
SELECT entry.schemaname, entry.tablename, entry.wildcard, entry.excluded FROM {wanted} entry
