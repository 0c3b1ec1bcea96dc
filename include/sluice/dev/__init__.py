"""Tools for those who change Sluice: test rings, the site of the docs, and the lock file."""
