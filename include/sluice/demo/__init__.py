"""The demonstration: real data in a master, and a writer that never rests."""
