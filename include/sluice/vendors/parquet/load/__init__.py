"""Initial data into a lake table."""
