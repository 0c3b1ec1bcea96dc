UPDATE {rows} AS target SET ({others}) = ROW({other_values}) FROM {stage} AS stage WHERE stage.sluice_op = 'U' AND {same_key}
