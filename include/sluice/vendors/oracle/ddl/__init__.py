"""Commands of the master on a slave."""
