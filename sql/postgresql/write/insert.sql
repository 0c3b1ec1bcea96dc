INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE SELECT {values} FROM {stage} AS stage WHERE stage.sluice_op = {op}
