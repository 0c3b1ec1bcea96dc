DELETE FROM {table}
