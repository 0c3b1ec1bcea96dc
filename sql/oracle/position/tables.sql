-- Which of our tables the user has. Manual: Database Reference, "USER_TABLES".
SELECT kept.table_name FROM user_tables kept WHERE kept.table_name IN ('SLUICE_POSITION', 'SLUICE_LOADED', 'SLUICE_INTENT')
