-- Under the lock of commands, which who takes over waits for after it raised the epoch (R6).
SELECT epoch FROM {position} WHERE source = %(source)s AND slave = %(slave)s
