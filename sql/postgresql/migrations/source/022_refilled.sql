-- Rows that triggers of the application brought when a table was emptied were captured before the TRUNCATE, and stayed so. The
-- bootstrap that follows has trigger functions made anew that send them again.
SELECT version FROM {state}
