"""Initial data that is stored in files, carried by hand, and loaded elsewhere."""
