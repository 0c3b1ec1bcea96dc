-- Within the sweep's own snapshot this takes exactly what the sweep read (R2).
DELETE FROM {queue} WHERE {within}
