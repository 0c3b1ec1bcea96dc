-- A slave's rows as of a change number; their owner needs no right for it. Manual: SQL Language Reference, "flashback_query_clause".
SELECT {columns} FROM {table} AS OF SCN :scn held
