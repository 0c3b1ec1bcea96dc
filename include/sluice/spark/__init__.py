"""Everything that needs Spark: sessions, jobs, and segments on Hadoop filesystems."""
