-- What bears a name of our tables in a slave, or perhaps of others, and of which engine it is; a view is of none.
SHOW TABLE STATUS FROM {schema} LIKE 'sluice%'
