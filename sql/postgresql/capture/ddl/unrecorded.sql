-- Transactions whose DDL an event trigger could not record.
SELECT DISTINCT trans_key::text FROM {notes} WHERE note = 'unrecorded'
