"""A directory of Parquet files as a slave, each table of which is an Iceberg table besides."""
