"""Directories and files, local or in an object store, and key files."""
