"""Status, advice, and the check of a configuration, for people."""
