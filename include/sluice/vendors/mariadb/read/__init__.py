"""Reading a slave for a comparison."""
