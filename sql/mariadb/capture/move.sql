-- Nothing of it was to be published.
UPDATE {state} SET place = %(place)s, born = %(born)s, layouts = %(layouts)s WHERE id = 1
