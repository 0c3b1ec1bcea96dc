-- Trigger functions that were generated before named a type without its schema, which whoever writes a row could make. The
-- bootstrap that follows has them made anew.
SELECT version FROM {state}
