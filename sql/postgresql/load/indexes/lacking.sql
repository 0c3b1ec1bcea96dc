SELECT DISTINCT "schema", "table" FROM {indexes}
