DELETE FROM {rows} AS target USING {stage} AS stage WHERE stage.sluice_op = {op} AND {same_key}
