"""The environment that all services of one home share."""

from __future__ import annotations

import os
from pathlib import Path

from sluice import connections, libpq, loopback, paths, shell
from sluice.config import configuration_text
from sluice.runtime.paths import BIN, RuntimePaths

# Without bytecode each of Airflow's processes would compile thousands of files, at every start.
_NOT_INHERITED = ("AIRFLOW", "SPARK_", "PYSPARK_", "PYTHON", "SLUICE_CONNECTIONS", "SLUICE_CRASH")


def child_environment(layout: RuntimePaths, java: Path) -> dict[str, str]:
    """Ours, without what would lead to another Airflow, Spark or PostgreSQL or through a proxy to this machine, and
    with this home's paths.
    """
    ignored = libpq.ignored_variables()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not (name.startswith(_NOT_INHERITED) or name in ignored or loopback.is_socks(name, value))
    }
    return {
        **kept,
        **loopback.without_proxies(),
        # bin/spark-submit finds Spark through the first python3 on the path.
        "PATH": os.pathsep.join([str(BIN), str(java / "bin"), kept.get("PATH", os.defpath)]),
        "PYTHONPATH": os.pathsep.join(paths.import_folders("include", "plugins")),
        "PYTHONUNBUFFERED": "1",
        "JAVA_HOME": str(java),
        "PYSPARK_PYTHON": str(BIN / "python"),
        "PYSPARK_DRIVER_PYTHON": str(BIN / "python"),
        shell.CLI_ENV: shell.CLI,
        paths.HOME_ENV: str(layout.home),
        configuration_text.CONFIG_ENV: str(configuration_text.path().resolve()),
        connections.KEY_FILE_ENV: str(layout.seal_key),
    }
