"""What an administrator does to a replication; the shell, DAGs and pages call the same functions."""
