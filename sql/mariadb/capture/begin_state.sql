-- The first row: nothing is published, and the log is read from here on.
INSERT INTO {state} (id, store, epoch, incarnation, server, segment, sha256, place, born, wanted, layouts)
VALUES (1, '', 0, %(incarnation)s, %(server)s, 0, '', %(place)s, '', %(wanted)s, %(layouts)s)
