-- This server as it is now: published is what was listed, and its log is read from here on.
UPDATE {state} SET incarnation = %(incarnation)s, server = %(server)s, segment = %(segment)s, sha256 = %(sha256)s,
    place = %(place)s, born = %(born)s, layouts = %(layouts)s
WHERE id = 1
