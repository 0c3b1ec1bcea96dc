"""run.json: which services of this home were started, on which ports, with which configuration. And its lock."""

from __future__ import annotations

import fcntl
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from sluice.runtime.paths import RuntimePaths, write_private
from sluice.runtime.processes import Service
from sluice.runtime.terminal import Progress
from sluice.storage import private_files


class RuntimeState:
    """The content of the file. Every change is written at once: we may be killed at any time."""

    def __init__(self, layout: RuntimePaths) -> None:
        self._file = layout.state_file
        self._lock = threading.Lock()
        self.services: dict[str, Service] = {}
        self.ports: dict[str, int] = {}
        self.configuration = ""
        try:
            kept = json.loads(self._file.read_text())
            self.services = {entry["name"]: Service(**entry) for entry in kept["services"]}
            self.ports = {str(name): int(port) for name, port in kept["ports"].items()}
            self.configuration = str(kept["configuration"])
        except (OSError, ValueError, TypeError, KeyError):
            # No file, or one that a full disk cut short: processes are found by their mark as well.
            self.services, self.ports, self.configuration = {}, {}, ""

    def find_running(self, name: str) -> Service | None:
        """The service if it is alive."""
        service = self.services.get(name)
        return service if service and service.alive else None

    def record(self, service: Service) -> Service:
        with self._lock:
            self.services[service.name] = service
            self._write()
        return service

    def set_port(self, service: str, port: int) -> None:
        with self._lock:
            self.ports[service] = port
            self._write()

    def set_configuration(self, file: Path) -> None:
        """The environment of the services."""
        with self._lock:
            self.configuration = str(file)
            self._write()

    def forget_services(self) -> None:
        """All have ended. The ports stay: the next `up` takes the same ones if it can."""
        with self._lock:
            self.services = {}
            self._write()

    def _write(self) -> None:
        services = [asdict(service) for service in self.services.values()]
        kept = {"services": services, "ports": self.ports, "configuration": self.configuration}
        write_private(self._file, json.dumps(kept, indent=2) + "\n")


@contextmanager
def alone(layout: RuntimePaths, progress: Progress) -> Iterator[None]:
    """Only one `up` or `down` of a home at a time; another waits."""
    with private_files.open_append(layout.lock_file) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with progress.step("waiting for another ./sluice that starts or stops this runtime"):
                fcntl.flock(file, fcntl.LOCK_EX)
        yield
