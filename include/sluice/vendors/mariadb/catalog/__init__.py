"""The tables of a slave, as its catalog has them."""
