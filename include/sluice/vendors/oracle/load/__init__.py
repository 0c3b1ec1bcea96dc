"""Initial data into a slave."""
