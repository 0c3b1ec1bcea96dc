"""A directory of Parquet files as a slave: a copy of the master's rows, or a history of their changes."""
