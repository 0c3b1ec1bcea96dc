"""The configuration file: its models, its checks, and the mapper of names that it describes."""
