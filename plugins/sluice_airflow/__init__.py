"""Sluice in Airflow: the operator, sealed connections, the conventions of DAGs, and the plugin with the pages."""
