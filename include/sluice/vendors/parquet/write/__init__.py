"""Batches into a lake table: data files, versions, commits."""
