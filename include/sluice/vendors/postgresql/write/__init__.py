"""Batches of changes into PostgreSQL tables."""
