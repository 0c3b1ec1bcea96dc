"""The Spark Connect server: loopback only, with a token, warm before it is called ready.

The token is in the server's environment and in a private file, never in a command line or in Spark's configuration.
"""

from __future__ import annotations

import importlib.util
import secrets
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from sluice.errors import SluiceError
from sluice.runtime import ports, processes
from sluice.runtime.paths import BIN, RuntimePaths, write_private
from sluice.runtime.processes import Service
from sluice.runtime.terminal import ProgressStep
from sluice.spark_environment import REMOTE_ENV, TOKEN_ENV
from sluice.storage import private_files

NAME = "spark-connect"
PREFERRED_PORT = 15002
# Of its pages, which show who works for whom.
PAGES, PREFERRED_PAGES_PORT = "spark-pages", 15003
READY_S = 120
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def jars() -> Path:
    """The directory of the jars, found without importing the package."""
    package = importlib.util.find_spec("pyspark")
    assert package
    assert package.origin
    return Path(package.origin).parent / "jars"


def make_token(layout: RuntimePaths) -> None:
    """A new token, for the next start of the server and for its clients."""
    write_private(layout.spark_token, secrets.token_urlsafe(32))


def pages(port: int) -> str:
    """The address of the server's pages."""
    return f"http://{ports.LOOPBACK}:{port}"


def start(layout: RuntimePaths, port: int, pages_port: int, env: Mapping[str, str]) -> Service:
    """Start the server; it does not accept connections yet."""
    temporary = layout.spark / "tmp"
    # A server that was killed left its files there, and the events of the last one are of no use here.
    for directory in (temporary, layout.spark_events):
        shutil.rmtree(directory, ignore_errors=True)
        private_files.make(directory)
    properties = layout.spark / "connect.conf"
    write_private(
        properties, "".join(f"{name} {value}\n" for name, value in _properties(layout, port, pages_port).items())
    )
    return processes.start(
        NAME,
        [BIN / "spark-submit", "--properties-file", properties, "--class", SERVER, "spark-internal"],
        home=layout.home,
        env={
            **env,
            # Its own script that looks for it knows no blanks.
            "SPARK_HOME": str(jars().parent),
            TOKEN_ENV: layout.spark_token.read_text(),
            "SPARK_LOCAL_DIRS": str(temporary),
            "TMPDIR": str(temporary),
            "SPARK_LOCAL_IP": ports.LOOPBACK,
        },
        log=layout.log(NAME),
        cwd=layout.spark,
    )


def warm_up(layout: RuntimePaths, service: Service, port: int, env: Mapping[str, str], step: ProgressStep) -> None:
    """Wait for the server and run one small job: the first one of a server costs seconds.

    Raises:
        SluiceError: SLC-931, the server does not start; the job fails.
    """
    step.update("starting")
    service.wait_until(lambda: service.listens_on(port), READY_S)
    step.update("first job")
    first = subprocess.run(
        [BIN / "python", "-m", "sluice.spark.warm_up"],
        env={**env, **processes.mark(layout.home), **client_environment(layout, port)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=READY_S,
    )
    if first.returncode:
        output = "\n".join(first.stderr.splitlines()[-10:])
        raise SluiceError(
            931,
            f"the first Spark job failed:\n{output}",
            f"the server's log: {service.log}; fix what it says, then `./sluice down` and `./sluice up`",
        )


def client_environment(layout: RuntimePaths, port: int) -> dict[str, str]:
    """A client's environment, by which it reaches the server. PySpark sends a token without TLS to the name localhost
    only.
    """
    return {REMOTE_ENV: f"sc://localhost:{port}", TOKEN_ENV: layout.spark_token.read_text()}


def _properties(layout: RuntimePaths, port: int, pages_port: int) -> dict[str, str]:
    return {
        "spark.app.name": "sluice",
        # More than cores: tasks wait for databases most of the time. A dump holds two of them until it ends.
        "spark.master": "local[6]",
        "spark.driver.memory": "1g",
        # The rows go from Python to the databases, not through this JVM: what it needs is to be ready soon. Without the
        # second compiler a start takes half the processor time.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData "
        f'-Djava.io.tmpdir="{layout.spark / "tmp"}"',
        "spark.driver.host": ports.LOOPBACK,
        "spark.driver.bindAddress": ports.LOOPBACK,
        # The ports for executors take no call without a secret. Spark makes one by itself for a local master, so it is
        # in no file, environment or command line. gRPC asks for the token.
        "spark.authenticate": "true",
        "spark.connect.grpc.binding.address": ports.LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.session.manager.defaultSessionTimeout": "10m",
        # A job of one slave must not wait for all chunks of another's dump.
        "spark.scheduler.mode": "FAIR",
        # By SPARK_LOCAL_IP on the loopback. Whoever has a login on this machine may look there, and do nothing.
        "spark.ui.port": str(pages_port),
        "spark.ui.killEnabled": "false",
        # Spark keeps these in the server's memory, by default a thousand of each.
        **dict.fromkeys(("spark.ui.retainedJobs", "spark.ui.retainedStages", "spark.sql.ui.retainedExecutions"), "200"),
        "spark.ui.retainedTasks": "2000",
        **dict.fromkeys(("spark.connect.ui.retainedSessions", "spark.connect.ui.retainedStatements"), "200"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "true",
        "spark.eventLog.dir": layout.spark_events.as_uri(),
        # A file that is full is followed by the next; housekeeping keeps the last ones.
        "spark.eventLog.rolling.enabled": "true",
        "spark.eventLog.rolling.maxFileSize": "10m",
        "spark.local.dir": str(layout.spark / "tmp"),
        "spark.sql.warehouse.dir": str(layout.spark / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
    }
