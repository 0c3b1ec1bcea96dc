"""Chunks of one snapshot, copied side by side, and resumed after a failure."""
