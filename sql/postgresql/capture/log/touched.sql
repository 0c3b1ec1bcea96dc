-- The version of that row which is newest here.
SELECT xmin::text, ctid::text, epoch FROM {state}
