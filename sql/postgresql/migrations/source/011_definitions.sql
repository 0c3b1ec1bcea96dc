-- Definitions of tables did not say what a slave needs to do the same: constraints, foreign keys, how a sequence counts. The
-- bootstrap that follows makes the functions anew, and takes the snapshot of all tables again.
SELECT version FROM {state}
