-- What rows of partitions have in a column that is added with a default was not said to slaves. The bootstrap that follows has
-- the functions made anew; rows that lack it come with an initial update.
SELECT version FROM {state}
