-- Chunks of the same load that an earlier attempt has put in stay in; whatever began before that load is another's.
UPDATE {loaded} SET update_id = %(update)s
WHERE source = %(source)s AND slave = %(slave)s AND update_id >= %(earlier)s AND update_id < %(update)s
