"""What people see: the status, advice, and the check of a configuration."""
