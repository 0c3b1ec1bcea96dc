-- ACTIONS of the registry was padded with blanks, and ITEMS had t and f for booleans: the bootstrap that follows makes the
-- functions anew. Where a view of somebody else's shows the column, it stays as it is, and is read without its blanks.
DO $actions$
BEGIN
    ALTER TABLE {tables} ALTER COLUMN actions TYPE varchar(3);
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END
$actions$
