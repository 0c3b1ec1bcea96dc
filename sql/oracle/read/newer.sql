-- An upper bound of the row's own change number: more rows than needed, never fewer. Manual: SQL Language Reference,
-- "ORA_ROWSCN Pseudocolumn".
AND source.ORA_ROWSCN > :since
