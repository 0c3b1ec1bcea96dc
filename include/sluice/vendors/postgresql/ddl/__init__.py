"""CREATE, ALTER and DROP: rendered from a definition, and carried out on a slave."""
