INSERT INTO {ranges} (
    source, slave, number, update_id, "schema", "table", key_order, reached, until, seen, first, replaces)
VALUES (%(source)s, %(slave)s, %(number)s, %(update)s, %(schema)s, %(table)s, %(order)s, %(reached)s, %(until)s,
        %(seen)s, %(first)s, %(replaces)s)
