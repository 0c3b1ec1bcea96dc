"""All DAGs of a configuration, for a file in Airflow's DAG folder.

from sluice_airflow_dags import sluice_dags
sluice_dags("/etc/sluice/replication.yaml")
"""

from __future__ import annotations

import os

from airflow.sdk import DAG

from sluice.config import configuration_text
from sluice_airflow.variables import read_configuration
from sluice_airflow_dags.administer import administer
from sluice_airflow_dags.alerts import alerts
from sluice_airflow_dags.approve_losses import approve_losses
from sluice_airflow_dags.bootstrap import bootstrap
from sluice_airflow_dags.cancel_update import cancel_update
from sluice_airflow_dags.compare import compare
from sluice_airflow_dags.decide import decide
from sluice_airflow_dags.drain import drain
from sluice_airflow_dags.housekeeping import housekeeping
from sluice_airflow_dags.initial_update import initial_update
from sluice_airflow_dags.publish import publish
from sluice_airflow_dags.receive_initial_files import receive_initial_files
from sluice_airflow_dags.repair import repair
from sluice_airflow_dags.statement import statement
from sluice_airflow_dags.upgrade_master import upgrade_master
from sluice_airflow_dags.verify import verify

_COMMON = (
    administer,
    alerts,
    approve_losses,
    bootstrap,
    cancel_update,
    decide,
    housekeeping,
    initial_update,
    receive_initial_files,
    repair,
    statement,
    upgrade_master,
    verify,
)


def sluice_dags(file: str | os.PathLike[str] | None = None) -> dict[str, DAG]:
    """Make all DAGs of a configuration, in a file or at another place, or of that which is in force; by their ids.

    Airflow finds them by itself. Their ids begin with `dag_prefix` of the file, where jobs and commands read it, too.
    """
    if file is not None:
        # Airflow parses a DAG file in a process of its own, and so does each task of it, whose job reads this file.
        os.environ[configuration_text.CONFIG_ENV] = configuration_text.absolute(file)
    settings = read_configuration()
    made = [
        *(make(settings) for make in _COMMON),
        *(publish(settings, source) for source in settings.sources),
        *(drain(settings, replication) for replication in settings.replications),
        *(dag for source in settings.sources for dag in compare(settings, source)),
    ]
    return {dag.dag_id: dag for dag in made if dag}
