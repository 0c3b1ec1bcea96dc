"""Schema changes of a lake table."""
