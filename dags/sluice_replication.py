"""Sluice's DAGs. Each is declared by a module of the package beside this file."""

from sluice_airflow_dags import sluice_dags

sluice_dags()
