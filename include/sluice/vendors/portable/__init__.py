"""Statements that mean the same in every database."""
