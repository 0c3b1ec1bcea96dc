"""MariaDB as a slave."""
