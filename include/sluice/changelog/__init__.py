"""The durable, ordered store of one source's published transactions: segments, their manifest, retention."""
