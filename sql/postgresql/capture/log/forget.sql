-- The slot is dropped: nothing is read from the server's log any more.
DELETE FROM {log} WHERE phase = 'over'
