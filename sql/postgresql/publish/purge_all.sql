-- Within the sweep's own snapshot this takes nothing that the sweep did not see (R2).
DELETE FROM {queue}
