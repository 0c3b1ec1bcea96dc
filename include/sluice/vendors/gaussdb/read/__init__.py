"""Reading a GaussDB in a snapshot."""
