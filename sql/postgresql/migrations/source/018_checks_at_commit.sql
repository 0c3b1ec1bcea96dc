-- The triggers that draw a transaction's last key fired before checks of unique values at the commit. A bootstrap, and an
-- initial update, makes them anew under names that sort behind.
SELECT version FROM {state}
