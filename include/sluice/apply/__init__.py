"""From a batch of the change log to the slave's tables: mapping, transform, net effect, order of tables."""
