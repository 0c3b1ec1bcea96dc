"""A look at where jobs find Spark: whether it answers, whether the way there is encrypted, and whether it is far."""

from __future__ import annotations

import os
import shutil
import socket

from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.spark.versions import expect_one_version
from sluice.tls import is_far

TIMEOUT_S = 5.0
_USE_SSL = '`{"use_ssl": true}` in the extra of its Airflow connection'


def look_at_spark(info: ConnectionInfo) -> str:
    """Say where Spark answers. Raises SluiceError: SLC-064, nothing does, or it has no Java; SLC-923, two PySparks."""
    expect_one_version()
    if not info.port:
        if info.host == "yarn" or info.host.startswith("local["):
            _expect_java()
        return f"{info.conn_type} {info.host}, looked at by the first job"
    host = info.host.rpartition("//")[2]
    try:
        peer = peer_address(host, info.port)
    except OSError as error:
        raise SluiceError(
            64,
            f"nothing answers at {host}:{info.port}: {error}",
            "start the Spark server, or fix its connection; no job runs until then",
        ) from None
    listens = f"listens at {host}:{info.port}"
    # A master of Spark is an address with its scheme, and has TLS by settings of Spark's own.
    if host == info.host and str(info.extra.get("use_ssl", "")).lower() != "true" and is_far(peer):
        return f"{listens}; the connection is not encrypted: set {_USE_SSL}"
    return listens


def _expect_java() -> None:
    """Look for Java as spark-submit does."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else "java"
    if not shutil.which(java):
        raise SluiceError(
            64,
            f"Spark needs Java here, and there is no {java}",
            "install Java 17 or later on each machine that runs tasks, or let JAVA_HOME lead to it in the environment "
            "of Airflow's processes; no job runs until then",
        )


def peer_address(host: str, port: int) -> str:
    """The IP address that listens there. Raises OSError if none does."""
    with socket.create_connection((host, port), TIMEOUT_S) as opened:
        return str(opened.getpeername()[0])


def is_on_another_machine(info: ConnectionInfo) -> bool:
    """Whether tasks run where this machine's directories may not be."""
    host = info.host.rpartition("//")[2]
    if info.host.startswith("yarn") or info.host.startswith("k8s"):
        return True
    try:
        return bool(host and info.port) and is_far(peer_address(host, info.port or 0))
    except OSError:
        return False
