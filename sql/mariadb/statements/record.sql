-- Last of its transaction.
UPDATE {records} SET content = %(content)s WHERE id = %(id)s
