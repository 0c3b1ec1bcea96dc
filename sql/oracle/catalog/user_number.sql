-- Manual: Database Reference, "ALL_USERS".
SELECT known.user_id FROM all_users known WHERE known.username = :schema
