-- Keys that are absent at the end; what becomes another row is never deleted.
DELETE held FROM {table} AS held JOIN {stage} AS staged ON {same_key} WHERE staged.sluice_mark = 0
