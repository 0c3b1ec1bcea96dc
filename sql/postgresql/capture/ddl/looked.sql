-- What these transactions did to tables has been looked at.
DELETE FROM {notes} WHERE note = 'unrecorded' AND trans_key = ANY (%(failed)s::xid8[])
