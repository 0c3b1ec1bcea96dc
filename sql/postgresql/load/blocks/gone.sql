-- At the point the slave is to have what the master has (R10): what the staged rows lack, he has not.
DELETE FROM {rows} AS there
WHERE {within} AND ({its}) NOT IN (SELECT {key} FROM pg_temp.sluice_merged)
