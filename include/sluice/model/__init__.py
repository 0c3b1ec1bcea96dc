"""The values that flow through Sluice: pure, immutable, standard library alone."""
