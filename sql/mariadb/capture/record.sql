-- How far the log is published, with what was listed of it (R2).
UPDATE {state} SET segment = %(segment)s, sha256 = %(sha256)s, place = %(place)s, born = %(born)s, layouts = %(layouts)s
WHERE id = 1
