UPDATE {state} SET store = %(store)s WHERE id = 1
