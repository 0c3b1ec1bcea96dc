-- What is below 0 are no chunks.
DELETE FROM {loaded} WHERE source = %(source)s AND slave = %(slave)s AND chunk >= 0
