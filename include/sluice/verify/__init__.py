"""Comparing rows at one point of the stream that both sides have reached (R10)."""
