UPDATE {state} SET wanted = %(wanted)s WHERE id = 1
