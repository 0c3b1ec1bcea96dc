"""Airflow's REST API: a client, pauses, runs that are asked for, and the removal of old runs."""
