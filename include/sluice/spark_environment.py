"""The variables of a process's environment by which a job finds its Spark, and the name that Spark shows.

Airflow's task sets them from its connection; no job inherits those of the process that started the task.
"""

import os
from collections.abc import Sequence

# The address of a Connect server, and the token that it asks for; both are PySpark's own.
REMOTE_ENV = "SPARK_REMOTE"
TOKEN_ENV = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
# Python files that the executors of a Connect server lack, with commas.
PY_FILES_ENV = "SLUICE_PY_FILES"
# Set in a process that spark-submit started.
_SUBMITTED_ENV = "PYSPARK_GATEWAY_PORT"
_MOST_SLAVES = 5


def is_there() -> bool:
    """Whether this process was started with a Spark of its own, or with the address of one."""
    return bool(os.environ.get(REMOTE_ENV) or os.environ.get(_SUBMITTED_ENV))


def work_name(job: str, source: str = "", slaves: Sequence[str] = ()) -> str:
    """The name of a job's work on Spark's pages, such as `sluice.dump flights -> zurich geneva`.

    It has blanks and no commas, which Spark's tags cannot have.
    """
    more = [f"and {len(slaves) - _MOST_SLAVES} more"] if len(slaves) > _MOST_SLAVES else []
    to = ["->", *slaves[:_MOST_SLAVES], *more] if slaves else []
    return " ".join(filter(None, [f"sluice.{job}", source, *to]))
