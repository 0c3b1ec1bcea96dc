-- Tables whose names differ in their case alone. Manual: Database Reference, "ALL_TABLES".
SELECT kept.owner, kept.table_name
FROM all_tables kept
WHERE UPPER(kept.owner) = UPPER(:schema) AND UPPER(kept.table_name) = UPPER(:name) AND kept.dropped = 'NO'
ORDER BY kept.owner, kept.table_name
