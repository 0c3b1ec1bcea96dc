-- The chunks of the same load, which another job goes on with.
UPDATE {loaded} SET update_id = %(load_id)s
WHERE source = %(source)s AND slave = %(slave)s AND update_id = %(earlier)s
