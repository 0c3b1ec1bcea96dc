"""Tools for those who change Sluice: test rings and the lock file."""
