"""Capture by the server's log: a slot, read by SQL functions."""
