-- The function of a table's triggers ran casts and policies that others had made. The bootstrap that follows makes it anew.
SELECT version FROM {state}
