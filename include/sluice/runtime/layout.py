"""Where the embedded runtime keeps what: every path in SLUICE_HOME, and the few that may have to be elsewhere."""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sluice import config

BIN = config.PROJECT / ".venv" / "bin"


@dataclass(frozen=True)
class Layout:
    """The paths of one home directory. Two homes never share a path, a port or a process."""

    home: Path

    @classmethod
    def of_environment(cls) -> Layout:
        """SLUICE_HOME, or .sluice in the checkout."""
        return cls(config.home().resolve())

    @property
    def logs(self) -> Path:
        return self.home / "logs"

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
    def airflow_users(self) -> Path:
        return self.airflow / "users.json"

    @property
    def elsewhere(self) -> Path:
        """For what another user must reach, or what needs a short path, when the home will not do.

        The name is the home's alone. It is not in /tmp: that is emptied at a reboot.
        """
        name = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:12]
        return Path("/var/tmp") / f"sluice-{os.getuid()}-{name}"

    @property
    def sockets_elsewhere(self) -> Path:
        """A short path for sockets: their names end at about 100 characters."""
        return Path(tempfile.gettempdir()) / self.elsewhere.name

    def log(self, service: str) -> Path:
        """The log file of a service."""
        return self.logs / f"{service}.log"

    def make(self) -> None:
        """Make the directories. The home itself can be passed through; what is private is so by its own mode."""
        for path in (self.home, self.logs):
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
