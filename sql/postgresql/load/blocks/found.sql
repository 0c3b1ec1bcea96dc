SELECT number, "schema", "table", key_order, reached, until, rows, ended, seen, first, replaces
FROM {ranges} WHERE source = %(source)s AND slave = %(slave)s AND update_id = %(update)s ORDER BY number
