"""GaussDB and openGauss: as a source, by the log. What reads the log is here; a vendor is not offered yet."""
