"""The paths of the embedded runtime in SLUICE_HOME."""

from __future__ import annotations

import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

from sluice import paths
from sluice.errors import ConfigError
from sluice.storage import private_files

_PASSED_THROUGH = 0o711
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class RuntimePaths:
    """The paths of one home directory. Two homes never share a path, a port or a process."""

    home: Path

    @classmethod
    def from_environment(cls) -> RuntimePaths:
        """SLUICE_HOME, or .sluice in the checkout."""
        return cls(paths.home().resolve())

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def postgres(self) -> Path:
        return self.home / "pg"

    @property
    def airflow(self) -> Path:
        return self.home / "airflow"

    @property
    def spark(self) -> Path:
        return self.home / "spark"

    @property
    def state_file(self) -> Path:
        return self.home / "run.json"

    @property
    def lock_file(self) -> Path:
        return self.home / "run.lock"

    @property
    def seal_key(self) -> Path:
        return self.home / "seal.key"

    @property
    def spark_token(self) -> Path:
        return self.spark / "token"

    @property
    def spark_events(self) -> Path:
        """Spark's event log."""
        return self.spark / "events"

    @property
    def airflow_settings(self) -> Path:
        return self.airflow / "airflow.cfg"

    @property
    def airflow_users(self) -> Path:
        return self.airflow / "users.json"

    def log(self, service: str) -> Path:
        """The log file of a service."""
        return self.logs / f"{service}.log"

    def make(self) -> None:
        """Make the directories, whatever the umask says. Existing ones become private.

        The home itself can be passed through, since root's PostgreSQL runs as another user; all that is in it is
        private by its own mode.

        Raises:
            ConfigError: SLC-659, they cannot be made; SLC-686, Airflow does not start in a directory of this name.
        """
        for path in (self.home, paths.PROJECT):
            if "%" in str(path):
                raise ConfigError(
                    686,
                    f"Airflow does not start in {path}: its settings take a percent sign for their own",
                    f"nothing was done; move the checkout, or let {paths.HOME_ENV} name a directory without one",
                )
        try:
            private_files.make(self.home.parent)
            if not self.home.is_dir():
                self.home.mkdir(mode=_PASSED_THROUGH)
            for path in (self.logs, self.airflow, self.spark):
                private_files.make(path)
                path.chmod(private_files.DIRECTORY)
            private_files.make(self.postgres)
        except OSError as error:
            raise ConfigError(
                659,
                f"the directory {self.home} cannot be used: {error.strerror}: {error.filename}",
                f"nothing was done; let {paths.HOME_ENV} name a directory that can be written to, or fix its rights",
            ) from None


def write_private(path: Path, text: str, *, executable: bool = False) -> None:
    """Write a file that only its owner can read, or execute, whole or not at all."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with private_files.create_file(draft) as file:
        file.write(text.encode())
        if executable:
            os.fchmod(file.fileno(), private_files.DIRECTORY)
    draft.replace(path)
