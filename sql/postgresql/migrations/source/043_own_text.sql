-- The text of a DDL statement went along with the other statements of its client, and the values in them. The bootstrap that
-- follows makes the functions anew.
SELECT version FROM {state}
