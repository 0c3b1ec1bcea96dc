"""The gate of a slave: which changes may pass, which are obsolete, and the loop that delivers them."""
