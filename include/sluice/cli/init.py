"""`./sluice init`: what an Airflow of others needs for Sluice is made, and what is left for a person is said."""

from __future__ import annotations

import subprocess
import sys

from sluice import connections, paths, shell
from sluice.cli.context import airflow_environment, expect_database, read_configuration
from sluice.config import configuration_text
from sluice.errors import SluiceError
from sluice.outside_text import say
from sluice.storage import private_files


def init() -> int:
    """Make the sealing key, a configuration to begin with, the pools and the DAG file; 0 if it came to its end.

    Raises:
        SluiceError: SLC-397, Airflow's DAG folder cannot be written to; SLC-254, its database cannot be read.
    """
    try:
        if not _prepare():
            return 0
    except OSError as error:
        raise SluiceError(
            397,
            f"what it needs could not be made: {error.filename}: {error.strerror}",
            "make its directory, with rights to write for the user that types this, and type it again",
        ) from None
    read_configuration()
    command = [sys.executable, "-m", "sluice_airflow.init"]
    done = subprocess.run(command, env=airflow_environment(), capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith(("made: ", "there: ")):
            say(line)
    expect_database(done)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise SluiceError(
            397,
            f"the pools and the DAG file could not be made: {reason}",
            "fix that, and type it again",
        )
    say(f"Then type: {shell.sluice('connect')} and {shell.check()}; they name what is missing.")
    return 0


def _prepare() -> bool:
    """Make key and configuration; whether there was a configuration already."""
    key = connections.key_file()
    if not key.exists():
        private_files.make(key.parent)
        connections.new_key_file(key)
        say(f"made: the sealing key {key}; each machine that runs jobs or Spark tasks needs it, or a copy")
    if not configuration_text.is_file(configuration_text.place()) or (file := configuration_text.path()).exists():
        return True
    file.parent.mkdir(parents=True, exist_ok=True)
    example = paths.PROJECT / "include" / "config" / "example.yaml"
    file.write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
    say(f"made: the configuration {file}, an example: write your databases and tables into it, and then")
    say(f"type: {shell.sluice('init')}")
    return False
