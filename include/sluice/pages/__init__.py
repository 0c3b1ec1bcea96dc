"""Pages in Airflow's UI, and the REST API beside them: what people see, and the commands that they may give."""
