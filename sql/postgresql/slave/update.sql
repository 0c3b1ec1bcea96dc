UPDATE {table} AS target SET ({columns}) = ROW({values}) FROM {stage} AS stage WHERE stage.sluice_op = 'U' AND {same_key}
