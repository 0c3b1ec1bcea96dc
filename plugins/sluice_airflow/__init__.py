"""What Airflow knows of Sluice: the one operator, how connections are sealed for a job, the conventions of our DAGs."""
