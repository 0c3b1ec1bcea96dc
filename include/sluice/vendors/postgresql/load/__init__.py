"""Initial data into PostgreSQL tables: COPY, indexes, foreign keys, key ranges."""
