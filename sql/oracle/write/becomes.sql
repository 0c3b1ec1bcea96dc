-- A column of the ON clause cannot be set. Manual: SQL Language Reference, "merge_update_clause".
WHEN MATCHED THEN UPDATE SET {assigned}
