"""Capture by triggers into a queue, and the sweep that reads it."""
