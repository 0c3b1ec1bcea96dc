"""The catalog of a GaussDB: its tables, their columns and keys."""
