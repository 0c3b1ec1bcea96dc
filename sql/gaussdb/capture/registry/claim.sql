UPDATE {state} SET store = %(store)s::text WHERE store IS NULL OR store = %(holder)s::text
