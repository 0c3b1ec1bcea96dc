-- Whether anything is queued, or the source changes over, so that a slot may have something; and whether there is DDL that an event
-- trigger could not record.
SELECT EXISTS (SELECT FROM {queue}) OR EXISTS (SELECT FROM {log} WHERE phase IS NOT NULL),
       EXISTS (SELECT FROM {notes} WHERE note = 'unrecorded')
