"""One archive of the classes that Spark's JVMs load: with it a start takes two thirds of the processor time.

It is made once, by the first who needs it, and kept beside pytest's cache. Java takes it only if it fits, else goes
without.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from sluice.paths import PROJECT
from sluice.runtime.ports import LOOPBACK
from sluice.runtime.spark_connect import jars

# Most of a short life of Java is spent on compiling well what runs once.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_KEPT = PROJECT / ".pytest_cache" / "java"
_MADE_WITHIN_S = 300
# A session as a job has it, in a JVM that is a Connect server as well.
_TRAINING = """
from pyspark.sql import SparkSession
session = SparkSession.builder.getOrCreate()
session.range(0, 4, 1, 2).mapInArrow(lambda batches: batches, "id long").collect()
session.stop()
"""
_CONF = {
    "spark.ui.enabled": "false",
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": LOOPBACK,
    "spark.connect.grpc.binding.port": "0",
}


def short_lived(java: Path) -> str:
    """The options of a JVM of this JAVA_HOME that lives for seconds or minutes."""
    _KEPT.mkdir(parents=True, exist_ok=True)
    archive = _KEPT / f"{_what_is_loaded(java)}.jsa"
    # A Java that made none is not asked again and again.
    tried = archive.with_suffix(".tried")
    with (_KEPT / "making").open("w") as lock:
        if not tried.exists():
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                # Somebody makes it: who comes meanwhile goes without.
                return SHORT_LIVED
            if not tried.exists():
                _make(archive, java)
                tried.touch()
    # Java says on its output what does not fit: nobody is to read that as a result of a job.
    how = f'-Xshare:auto -Xlog:cds*=error -XX:SharedArchiveFile="{archive}"'
    return f"{SHORT_LIVED} {how}" if archive.exists() else SHORT_LIVED


def _what_is_loaded(java: Path) -> str:
    """A name for an archive that fits: Java compares the jars by their paths, sizes and times."""
    program, release = java / "bin" / "java", java / "release"
    # A wrapper is made by each session anew, and names the same Java each time.
    is_script = program.read_bytes()[:2] == b"#!"
    facts = [program.read_text() if is_script else str(program.resolve())]
    facts += [release.read_text()] if release.exists() else []
    facts += [f"{jar} {jar.stat().st_size} {jar.stat().st_mtime_ns}" for jar in sorted(jars().iterdir())]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _make(archive: Path, java: Path) -> None:
    """Run a small job, whose JVM writes the archive at its end. Without one all works as well."""
    script, unfinished = archive.with_suffix(".py"), archive.with_suffix(".new")
    script.write_text(_TRAINING)
    # The mark goes with the archive: else who takes turns with another Java would be without one for good.
    for old in (*archive.parent.glob("*.jsa"), *archive.parent.glob("*.tried")):
        old.unlink(missing_ok=True)
    unfinished.unlink(missing_ok=True)
    options = f'{SHORT_LIVED} -XX:ArchiveClassesAtExit="{unfinished}"'
    conf = {**_CONF, "spark.driver.extraJavaOptions": options}
    words = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    program = str(Path(sys.executable).with_name("spark-submit"))
    env = {**os.environ, "JAVA_HOME": str(java), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": LOOPBACK}
    command = [program, "--master", "local[2]", "--driver-memory", "1g", *words, str(script)]
    with suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            command, env=env, cwd=archive.parent, capture_output=True, timeout=_MADE_WITHIN_S, check=False
        )
        if done.returncode == 0 and unfinished.exists():
            unfinished.rename(archive)
