"""Writing batches into a slave."""
