"""Rows of a master as they were at a change number."""
