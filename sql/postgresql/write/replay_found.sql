UPDATE {rows} AS target SET ({set}) = ROW({set_values}) WHERE {same}
