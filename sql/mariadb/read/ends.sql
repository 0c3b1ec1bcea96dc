-- The ends of the keys by now: whatever comes beyond them belongs to the first part, or to the last one.
SELECT MIN({key}), MAX({key}) FROM {table}
