"""Sluice: replication of one master database to any number of slaves, run by Airflow and Spark."""
