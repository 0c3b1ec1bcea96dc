"""The variables of a process's environment by which a job finds its Spark.

Airflow's task sets them from its connection; no job inherits those of the process that started the task.
"""

import os

# The address of a Connect server, and the token that it asks for; both are PySpark's own.
REMOTE_ENV = "SPARK_REMOTE"
TOKEN_ENV = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
# Python files that the executors of a Connect server lack, with commas.
PY_FILES_ENV = "SLUICE_PY_FILES"
# Set in a process that spark-submit started.
_SUBMITTED_ENV = "PYSPARK_GATEWAY_PORT"


def is_there() -> bool:
    """Whether this process was started with a Spark of its own, or with the address of one."""
    return bool(os.environ.get(REMOTE_ENV) or os.environ.get(_SUBMITTED_ENV))
