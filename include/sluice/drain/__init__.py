"""From the change log to one slave: the gate, batches, DDL policies, and the loop that delivers."""
