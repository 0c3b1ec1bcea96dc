"""Reading a master for an initial update or a comparison: snapshots, chunks, key ranges."""
