-- About how many blocks a table has, as statistics say; and whether its rows lie in an index, where they have no fixed address.
-- Manual: Database Reference, "ALL_TABLES".
SELECT NVL(kept.blocks, 0), NVL2(kept.iot_type, 'YES', 'NO')
FROM all_tables kept
WHERE kept.owner = :schema AND kept.table_name = :name
