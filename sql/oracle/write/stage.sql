-- A private temporary table commits nothing when it is made, unlike any other (R3). It can have no key and no index. Manual: SQL
-- Language Reference, "CREATE TABLE", "ON COMMIT PRESERVE DEFINITION"; Administrator's Guide, "Creating a Private Temporary Table".
CREATE PRIVATE TEMPORARY TABLE {stage} (
    sluice_mark NUMBER(1) NOT NULL,
    {columns}
) ON COMMIT PRESERVE DEFINITION
