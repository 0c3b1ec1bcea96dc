"""The Spark session of a job: Spark Connect if the environment names a server, else the one spark-submit gives."""

from __future__ import annotations

import atexit
import os
from functools import cache
from typing import TYPE_CHECKING

from sluice.spark import versions
from sluice.spark_environment import PY_FILES_ENV, REMOTE_ENV

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What the work of this process is shown as, unless its tasks have a name of their own.
_shown = "sluice"
# A server that does not answer is asked again for about half a minute; by default it would be for ten.
_RETRIES = 9
_MOST_PAUSE_MS = 2_000


def show_as(name: str) -> None:
    """Give the session that is made later a name, and with it all that this process asks Spark for."""
    global _shown
    _shown = name


def label(name: str | None = None) -> SparkSession:
    """The session; what this thread asks it for next is shown by this name, or else by the name of the process."""
    session, shown = spark(), name or _shown
    add_tag(shown)
    if not os.environ.get(REMOTE_ENV):
        # Over Connect this is the request. It begins with its user, who has the name.
        session.sparkContext.setJobDescription(shown)
    return session


def ask_once() -> None:
    """Let the client of a Connect server send no request again that the server may have begun already."""
    if os.environ.get(REMOTE_ENV):
        versions.limit_retries(spark(), 0, 0)


@cache
def spark() -> SparkSession:
    """The session, made when it is first needed: an idle sweep needs none.

    Raises:
        SluiceError: SLC-923, there are two versions of PySpark.
    """
    versions.expect_one_version()
    if remote := os.environ.get(REMOTE_ENV):
        return _connect(remote)
    # PySpark takes long to load, and a job that finds nothing to do ends without it.
    from pyspark.sql import SparkSession

    return SparkSession.builder.appName(_shown).getOrCreate()


def _connect(remote: str) -> SparkSession:
    """A new session of a Connect server; its executors are sent the Python files that they lack, as spark-submit does
    by itself.
    """
    from pyspark.sql import SparkSession

    # The user of all requests, if the address names none.
    os.environ["SPARK_USER"] = _shown
    session = SparkSession.builder.remote(remote).create()
    versions.limit_retries(session, _RETRIES, _MOST_PAUSE_MS)
    versions.keep_quiet_at_exit(session)
    if files := os.environ.get(PY_FILES_ENV):
        session.addArtifacts(*files.split(","), pyfile=True)
    return session


def add_tag(tag: str) -> None:
    """Give what this thread does in Spark from now on a tag."""
    # Without Spark Connect a session has tags since Spark 4, and a context in each version.
    if os.environ.get(REMOTE_ENV):
        spark().addTag(tag)
    else:
        spark().sparkContext.addJobTag(tag)


def interrupt_tag(tag: str) -> None:
    """End what has this tag in Spark."""
    if os.environ.get(REMOTE_ENV):
        spark().interruptTag(tag)
    else:
        spark().sparkContext.cancelJobsWithTag(tag)


def renew() -> SparkSession:
    """A new session in place of one that the server does not know any more."""
    _close()
    return spark()


@atexit.register
def _close() -> None:
    """Close a session of Spark Connect. Python itself would do so when its threads have ended, and wait for one."""
    if spark.cache_info().currsize and os.environ.get(REMOTE_ENV):
        spark().client.close()
        spark.cache_clear()
