"""Everything that needs Spark: sessions, jobs and their tasks."""
