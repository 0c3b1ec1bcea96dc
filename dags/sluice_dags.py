"""Sluice's DAGs. Each is declared by a module of `sluice_airflow.dags`, in plugins/."""

from sluice_airflow.dags import sluice_dags

sluice_dags()
