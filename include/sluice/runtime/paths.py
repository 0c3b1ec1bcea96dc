"""Where the embedded runtime keeps what: the paths in SLUICE_HOME."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from sluice import paths

BIN = paths.PROJECT / ".venv" / "bin"


@dataclass(frozen=True)
class RuntimePaths:
    """The paths of one home directory. Two homes never share a path, a port or a process."""

    home: Path

    @classmethod
    def of_environment(cls) -> RuntimePaths:
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
    def airflow_settings(self) -> Path:
        return self.airflow / "airflow.cfg"

    @property
    def airflow_users(self) -> Path:
        return self.airflow / "users.json"

    def log(self, service: str) -> Path:
        """The log file of a service."""
        return self.logs / f"{service}.log"

    def make(self) -> None:
        """Make the directories. The home itself can be passed through; what is private is so by its own mode."""
        for path in (self.home, self.logs, self.postgres):
            path.mkdir(parents=True, exist_ok=True)
        for path in (self.airflow, self.spark):
            path.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
