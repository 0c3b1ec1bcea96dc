DELETE FROM {rows} AS target WHERE {same}
