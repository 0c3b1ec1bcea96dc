-- The watched tables whose rows are wanted, as an array.
ARRAY(SELECT relid::oid FROM {tables} WHERE coalesce(actions, 'IUD') <> '')
