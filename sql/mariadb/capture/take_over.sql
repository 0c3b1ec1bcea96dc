UPDATE {state} SET epoch = %(epoch)s WHERE id = 1
