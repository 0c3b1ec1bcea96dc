SELECT max_row_bytes FROM {settings}
