"""The services of docker-compose.yaml as containers of podman, without Docker: two network namespaces are its networks,
and databases are reached by their sockets."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from sluice.connections import ConnectionInfo
from sluice.paths import PROJECT

# An image that podman has, made as deployment.md says.
IMAGE_ENV = "SLUICE_TEST_IMAGE"
SERVICES = yaml.safe_load((PROJECT / "docker-compose.yaml").read_text(encoding="utf-8"))["services"]
# The services whose names lead to the one namespace; those of all others lead to the other.
_SPARK = ("spark-master", "spark-worker-1")
_ADDRESSES = {"airflow": "10.213.77.1", "spark": "10.213.77.2"}
_HOSTS = {
    **dict.fromkeys(_SPARK, _ADDRESSES["spark"]),
    **dict.fromkeys(("airflow-api-server", "spark-driver", "spark-connect"), _ADDRESSES["airflow"]),
}


def run(*words: str, seconds: int = 600, check: bool = True) -> str:
    """What a command prints."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0 or not check, f"{words[:3]}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@contextmanager
def networks(tag: str) -> Iterator[Mapping[str, str]]:
    """Two network namespaces that reach each other and nothing else."""
    names = {name: f"{tag}-{name}" for name in _ADDRESSES}
    try:
        for name in names.values():
            run("ip", "netns", "add", name)
        other = ("type", "veth", "peer", "name", "eth0", "netns", names["spark"])
        run("ip", "link", "add", "name", "eth0", "netns", names["airflow"], *other)
        for name, address in _ADDRESSES.items():
            inside = ("ip", "-netns", names[name])
            run(*inside, "address", "add", f"{address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                run(*inside, "link", "set", device, "up")
        yield names
    finally:
        for name in names.values():
            run("ip", "netns", "del", name, check=False)


def write_secrets(folder: Path, infos: Mapping[str, ConnectionInfo]) -> None:
    """The secrets as make_secrets.py makes them, for these databases."""
    contents = runpy.run_path(str(PROJECT / "deploy" / "make_secrets.py"))["contents"]()
    connections = json.loads(contents["connections.json"])
    for name in connections.keys() & infos.keys():
        info = infos[name]
        there = {"host": info.host, "port": info.port, "schema": info.database}
        connections[name] |= {**there, "login": info.login, "password": info.password}
    airflow = infos["airflow"]
    login = f"{quote(airflow.login)}:{quote(airflow.password)}"
    place = f"host={quote(airflow.host, safe='')}&port={airflow.port}"
    contents["airflow_database_url"] = f"postgresql+psycopg://{login}@/{airflow.database}?{place}"
    contents["connections.json"] = json.dumps(connections)
    folder.mkdir()
    for name, text in contents.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o444)


@dataclass
class Containers:
    """Containers of one image.

    Attributes:
        networks: the network namespaces, by what is in them.
        shared: folders that each container has under the same path.
        secrets: by service, a folder with the secrets that it may read.
    """

    tag: str
    image: str
    networks: Mapping[str, str]
    place: Path
    shared: Sequence[Path]
    started: list[str] = field(default_factory=list)

    def start(self, service: str, *, wait: bool = False) -> None:
        """Start a service, or let it run to its end."""
        entry, name = SERVICES[service], f"{self.tag}-{service}"
        network = self.networks["spark" if service in _SPARK else "airflow"]
        words = ["--name", name, "--network", f"ns:/run/netns/{network}", "--hostname", service, "--runtime", "runc"]
        # Podman asks for more than this machine may allow.
        words += ["--ulimit", "nofile=8192:8192", "--ulimit", "nproc=8192:8192", "--init", "--read-only-tmpfs"]
        words += [word for host, address in _HOSTS.items() for word in ("--add-host", f"{host}:{address}")]
        words += [word for key, value in entry["environment"].items() for word in ("--env", f"{key}={value}")]
        mounts = {self._secrets(service, entry): "/run/secrets:ro", self.place / "home": "/var/lib/sluice"}
        mounts |= {folder: str(folder) for folder in self.shared}
        words += [word for outside, inside in mounts.items() for word in ("--volume", f"{outside}:{inside}")]
        self.started.append(name)
        run("podman", "run", *([] if wait else ["--detach"]), *words, self.image, *entry["command"])

    def _secrets(self, service: str, entry: Mapping[str, Any]) -> Path:
        folder = self.place / "of-services" / service
        folder.mkdir(parents=True)
        for name in entry["secrets"]:
            shutil.copy(self.place / "secrets" / name, folder)
        return folder

    def become_healthy(self, service: str, seconds: float = 400) -> bool:
        """Whether the health check of the file passes within this time."""
        kind, *words = SERVICES[service]["healthcheck"]["test"]
        command = ["bash", "-c", words[0].replace("$$", "$")] if kind == "CMD-SHELL" else words
        inside = ["podman", "exec", f"{self.tag}-{service}", *command]
        end = time.monotonic() + seconds
        while subprocess.run(inside, capture_output=True, check=False).returncode:
            if time.monotonic() > end:
                return False
            time.sleep(2)
        return True

    def shell(self, *words: str, check: bool = True) -> str:
        """What a command prints that a person types into the scheduler's container."""
        return run("podman", "exec", f"{self.tag}-airflow-scheduler", *words, check=check)

    def logs(self, service: str) -> str:
        """The last lines of a service."""
        return run("podman", "logs", "--tail", "40", f"{self.tag}-{service}", check=False)

    def remove(self) -> None:
        """End and remove them."""
        for name in reversed(self.started):
            run("podman", "rm", "--force", "--time", "5", name, check=False)


def is_possible() -> bool:
    """Whether this machine can run them, and has an image."""
    return bool(os.environ.get(IMAGE_ENV) and shutil.which("podman") and os.geteuid() == 0)
