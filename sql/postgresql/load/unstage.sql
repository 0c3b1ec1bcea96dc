-- What was staged for rows that somebody changed meanwhile does not come.
DELETE FROM pg_temp.sluice_merged WHERE {within}
