"""The connections of a command at a shell, from the embedded runtime or from Airflow, as a job gets them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from sluice import paths, shell
from sluice.config import configuration, configuration_text
from sluice.config.configuration import Config
from sluice.connections import KEY_FILE_ENV, NO_DATABASE, SEALED_ENV, open_sealed, process_connections
from sluice.context import Context
from sluice.errors import ConfigError, SluiceError
from sluice.runtime.paths import RuntimePaths
from sluice.runtime.up import find_running


def context() -> Context:
    """As the embedded runtime has the connections, which is quick; else as Airflow hands them out."""
    runtime = None if os.environ.get(SEALED_ENV) else find_running()
    if runtime is None:
        return from_airflow(read_configuration())
    runtime.expect_configuration()
    return Context(configuration.load(), runtime.stored_connections())


def read_configuration() -> Config:
    """The configuration in force, wherever it is. Raises ConfigError SLC-002, SluiceError SLC-912."""
    configuration_text.hand_over(configuration_text.place(), _ask_airflow)
    return configuration.load()


def from_airflow(settings: Config) -> Context:
    """With the connections that Airflow's jobs get.

    Raises:
        ConfigError: SLC-014, Airflow does not hand them out.
        SluiceError: SLC-912, there is no Airflow to ask; SLC-254, its own database cannot be read.
    """
    if os.environ.get(SEALED_ENV):
        return Context(settings, process_connections())
    os.environ.setdefault(KEY_FILE_ENV, str(RuntimePaths.from_environment().seal_key))
    command = [sys.executable, "-m", "sluice_airflow.sealing", *connection_ids(settings)]
    asked = subprocess.run(command, env=airflow_environment(), capture_output=True, text=True)
    expect_database(asked)
    if asked.returncode or not asked.stdout.strip():
        reason = (asked.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise ConfigError(
            14,
            f"Airflow did not hand out the connections: {reason}",
            f"see what Airflow says itself, with `{shell.airflow('connections', 'list')}`, and fix that",
        )
    return Context(settings, open_sealed(asked.stdout.strip().splitlines()[-1]))


def airflow_environment() -> dict[str, str]:
    """The environment of a process that asks Airflow itself: the embedded runtime's, else this shell's.

    Raises:
        SluiceError: SLC-912, neither leads to an Airflow.
    """
    if runtime := find_running():
        return runtime.airflow_environment()
    env = dict(os.environ)
    if not _leads_to_airflow(env):
        raise SluiceError(
            912,
            "Sluice is not running, or not all of it, and this shell leads to no other Airflow",
            "type: ./sluice up; or, for an Airflow of your own, run this where its environment is set (AIRFLOW_HOME, "
            "AIRFLOW__...)",
        )
    folders = paths.import_folders("include", "plugins")
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [*folders, env.get("PYTHONPATH")]))
    return env


def expect_database(asked: subprocess.CompletedProcess[str]) -> None:
    """Raises SluiceError SLC-254: a process that asked Airflow found that its own database cannot be read."""
    if asked.returncode == NO_DATABASE:
        raise SluiceError(
            254,
            f"Airflow's own database cannot be read: {asked.stderr.strip().splitlines()[-1]}",
            "correct AIRFLOW__DATABASE__SQL_ALCHEMY_CONN of this shell, or airflow.cfg; a new database gets its tables "
            f"by `{shell.airflow('db', 'migrate')}`",
        )


def _ask_airflow(variable: str) -> str | None:
    """The text of an Airflow Variable; None if there is none. Raises ConfigError SLC-002, Airflow fails."""
    command = [sys.executable, "-m", "sluice_airflow.variables", variable]
    asked = subprocess.run(command, env=airflow_environment(), capture_output=True, encoding="utf-8", check=False)
    expect_database(asked)
    if asked.returncode:
        reason = (asked.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise ConfigError(
            2,
            f"Airflow did not hand out its Variable {variable!r}, which is the configuration: {reason}",
            f"see what Airflow says itself, with `{shell.airflow('variables', 'get', variable)}`, and fix that",
        )
    return asked.stdout or None


def connection_ids(settings: Config) -> list[str]:
    """The ids of all connections that the configuration names."""
    sources = [conn_id for source in settings.sources.values() for conn_id in source.connections]
    slaves = [conn_id for slave in settings.slaves.values() for conn_id in slave.connections]
    read = [source.reading_connection for source in settings.sources.values()]
    read += [slave.reading_connection for slave in settings.slaves.values()]
    deployment = [settings.control, settings.airflow_api, settings.spark]
    return list(dict.fromkeys([*deployment, *sources, *slaves, *filter(None, read), *secret_ids(settings)]))


def secret_ids(settings: Config) -> list[str]:
    """The ids of connections that only hold a secret."""
    relay = settings.relay.secret_ids if settings.relay else []
    return [secret for secret in (*(slave.salt for slave in settings.slaves.values()), *relay) if secret]


def _leads_to_airflow(env: Mapping[str, str]) -> bool:
    named = any(name.startswith(("AIRFLOW_", "_AIRFLOW")) for name in env)
    return named or (Path.home() / "airflow" / "airflow.cfg").exists()
