"""From ITEMS to the change log: sweep, segment, manifest, purge (R1, R2, R6)."""
