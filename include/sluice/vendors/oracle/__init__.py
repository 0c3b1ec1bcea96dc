"""The vendor Oracle: a master whose changes triggers capture."""
