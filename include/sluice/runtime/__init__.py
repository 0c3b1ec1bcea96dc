"""The embedded runtime: PostgreSQL, Airflow and Spark on one machine, started and stopped by the launcher."""
