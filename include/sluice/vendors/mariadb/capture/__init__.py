"""Capture of a MariaDB master."""
