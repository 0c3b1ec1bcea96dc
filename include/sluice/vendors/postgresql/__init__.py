"""PostgreSQL as a source and as a slave."""
