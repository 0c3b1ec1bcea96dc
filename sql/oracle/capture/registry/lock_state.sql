-- The fence: whoever purges or takes over holds it until the commit (R6). Manual: SQL Language Reference, "SELECT",
-- "for_update_clause".
SELECT epoch FROM {state} FOR UPDATE
