"""The Spark session of a bench: in this process, with as many tasks at once as the dump plans, and warm."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyarrow as pa

from sluice.bench.server import BenchServer
from sluice.context import Context
from sluice.paths import PROJECT
from sluice.runtime.java import java_home
from sluice.runtime.terminal import Progress
from sluice.spark_environment import REMOTE_ENV
from sluice.vendors.protocol.tasks import LoadJob, SlaveLoaded

Load = Callable[[LoadJob], list[SlaveLoaded]]


@contextmanager
def session(server: BenchServer, context: Context, progress: Progress, driver: Path | None = None) -> Iterator[Load]:
    """Start Spark, and its Python workers, for the time of the block; what is given runs a dump's chunks on it.

    Args:
        driver: a JDBC driver that it is to have.
    """
    with progress.step("starting Spark"):
        _prepare_environment(server, context, driver)
        from sluice.spark.load_tasks import load
        from sluice.spark.session import spark

        tasks = context.config.bulk_tasks
        spark().range(0, tasks, 1, tasks).mapInArrow(_pass_on, "id long").collect()
    try:
        yield load
    finally:
        spark().stop()


@dataclass
class Peak:
    """The most memory of the processes of this job, each at its own time, in MB."""

    mb: float = 0.0


@contextmanager
def peak() -> Iterator[Peak]:
    """The memory of this process and all below it, Spark's workers and the virtual machine among them, during the
    block.
    """
    for pid in _own_stages():
        # See proc(5): 5 makes VmHWM begin anew.
        with suppress(OSError):
            Path(f"/proc/{pid}/clear_refs").write_text("5")
    peak_memory = Peak()
    yield peak_memory
    peak_memory.mb = sum(map(_high_water_mb, _own_stages()))


def _own_stages() -> list[int]:
    this = psutil.Process()
    return [this.pid, *(below.pid for below in this.children(recursive=True))]


def _high_water_mb(pid: int) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


def _pass_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _prepare_environment(server: BenchServer, context: Context, driver: Path | None) -> None:
    """The environment that `./sluice up` and the operator give to a job."""
    server.hand_over(context)
    java = java_home(server.directory / "java")
    jars = f" --jars {driver}" if driver else ""
    path = [str(Path(sys.executable).parent), str(java / "bin"), os.environ.get("PATH", os.defpath)]
    os.environ.update(
        JAVA_HOME=str(java),
        PATH=os.pathsep.join(path),
        PYTHONPATH=str(PROJECT / "include"),
        PYSPARK_PYTHON=sys.executable,
        PYSPARK_SUBMIT_ARGS=f"--master local[{context.config.bulk_tasks}] --conf spark.ui.enabled=false"
        f" --conf spark.local.dir={server.directory} --conf spark.driver.bindAddress=127.0.0.1"
        f" --conf spark.driver.host=127.0.0.1 --conf spark.log.level=ERROR{jars} pyspark-shell",
    )
    for name in (REMOTE_ENV, "SPARK_HOME"):
        os.environ.pop(name, None)
