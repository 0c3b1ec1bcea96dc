-- At the point the slave is to have what the master has (R10): what the staged rows lack, he has not. Rows that have each
-- other's unique values go as well, before the staged rows come.
DELETE FROM {rows} AS there
WHERE {within} AND ({its}) {among} (SELECT {key} FROM pg_temp.sluice_merged)
