"""From a batch of the change log to the slave's tables: net, map, order, write, tolerate."""
