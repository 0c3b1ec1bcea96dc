"""Statements that are issued on every node, on a slave."""
