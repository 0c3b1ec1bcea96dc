-- FOR UPDATE: no batch of a drain is under way, so nothing of it waits for a table that we have, and none begins.
SELECT FROM {position} AS position
WHERE source = %(source)s AND slave = %(slave)s AND EXISTS (
    SELECT FROM {ranges} AS range
    WHERE range.source = position.source AND range.slave = position.slave AND range.update_id = %(update)s)
FOR UPDATE
