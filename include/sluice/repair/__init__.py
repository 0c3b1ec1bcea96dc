"""Repairing rows of a slave that a comparison found different from the master's (R10)."""
