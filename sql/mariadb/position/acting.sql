-- Triggers of our tables in a slave, and perhaps of others.
SHOW TRIGGERS FROM {schema} LIKE 'sluice%'
