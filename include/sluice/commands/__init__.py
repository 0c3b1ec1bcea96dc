"""Commands of administrators; the shell, DAGs and pages call the same functions."""
