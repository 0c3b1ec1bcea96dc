-- Whether anything is queued, and whether there is DDL that an event trigger could not record.
SELECT EXISTS (SELECT FROM {queue}), EXISTS (SELECT FROM {notes} WHERE note = 'unrecorded')
