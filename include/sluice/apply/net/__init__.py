"""The net effect of a batch: the last state of each key."""
