-- Functions called each other without the types of their arguments, and keys were compared without the type of their operator,
-- so that functions and operators of others could be run instead. The bootstrap that follows makes them anew.
SELECT version FROM {state}
