DELETE FROM {queue}
