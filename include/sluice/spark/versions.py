"""The differences between PySparks: each is asked for what it has, and not for its number.

PySpark is `pyspark`, with Java's half, or `pyspark-client`, for Spark Connect alone. Both install into one folder.
"""

from __future__ import annotations

import atexit
from importlib import metadata
from typing import TYPE_CHECKING

from sluice.errors import SluiceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_errors() -> tuple[type[Exception], ...]:
    """The errors of Spark, and of the way to it."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ModuleNotFoundError:
        # `pyspark-client` starts no Java.
        return (PySparkException,)
    return (PySparkException, Py4JError)


def limit_retries(session: SparkSession, most: int, most_pause_ms: int) -> None:
    """Let a session of Spark Connect ask a server that does not answer that often, with pauses of that length."""
    try:
        from pyspark.sql.connect.client.retries import DefaultPolicy
    except ModuleNotFoundError:
        # Before Spark 4 a client has one policy, its own.
        session.client._retry_policy.update(max_retries=most, max_backoff=most_pause_ms)  # type: ignore[attr-defined]
    else:
        session.client.set_retry_policies([DefaultPolicy(max_retries=most, max_backoff=most_pause_ms)])


def keep_quiet_at_exit(session: SparkSession) -> None:
    """Let a process end without PySpark's last request, which clears models that no job makes, and which Spark's pages
    would show as running for minutes.
    """
    # Spark 4.2 and 4.3, 4.1, 4.0; 3.5 has none.
    for name in ("_on_exit", "_cleanup_ml_cache", "_cleanup_ml"):
        if hook := getattr(session.client, name, None):
            atexit.unregister(hook)


def expect_one_version() -> None:
    """Refuse two PySparks of different versions: each has overwritten files of the other.

    Raises:
        SluiceError: SLC-923, the versions differ.
    """
    versions = {name: _version(name) for name in ("pyspark", "pyspark-client")}
    if None not in versions.values() and len({*versions.values()}) > 1:
        both = " and ".join(f"{name} {version}" for name, version in versions.items())
        raise SluiceError(
            923,
            f"{both} are installed, and both install into one folder: its files are of both versions",
            f"nothing was done; wherever jobs run, type: pip uninstall --yes pyspark pyspark-client; "
            f'pip install "pyspark[connect]=={versions["pyspark"]}"',
        )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
