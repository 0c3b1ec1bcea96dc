-- A key that is equal to the master's and of other bytes (1.0 and 1.00) becomes as he spells it. The row stays: no foreign
-- key takes others away with it.
UPDATE {rows} AS there SET {then} FROM pg_temp.sluice_merged AS come
WHERE {alike} AND ROW({its})::record *<> ROW({key})::record
