-- A column that is GENERATED ALWAYS AS IDENTITY takes a given value from INSERT alone: these rows are put back by one.
DELETE FROM {rows} AS target USING {stage} AS stage
WHERE stage.sluice_op = 'U' AND {same_key} AND ROW({numbers}) IS DISTINCT FROM ROW({stage_numbers})
