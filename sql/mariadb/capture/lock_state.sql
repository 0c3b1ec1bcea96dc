-- The fence, until the transaction ends (R6).
SELECT epoch FROM {state} WHERE id = 1 FOR UPDATE
