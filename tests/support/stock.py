"""An Airflow as others have it: a fresh environment with Airflow and the wheel, and its services, all of that
environment."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.launcher import clean

from sluice.dev import wheel
from sluice.paths import PROJECT

# With later ones it does not start; it names no bounds.
_OF_AIRFLOW_3_1_0 = ("fastapi==0.117.1", "structlog==25.4.0")
_PRODUCT = ("sluice", "sluice_airflow", "sluice_airflow_dags")


@dataclass(frozen=True)
class Environment:
    """A Python environment.

    Attributes:
        wheel: the wheel of this checkout, which may not be installed there yet.
        archive: the wheel under a name by which Python imports from it.
    """

    bin: Path
    wheel: Path
    archive: Path

    def run(self, *words: str, env: Mapping[str, str], seconds: int = 180) -> subprocess.CompletedProcess[str]:
        """Run one of its programs."""
        command = [str(self.bin / words[0]), *words[1:]]
        return subprocess.run(command, env=dict(env), capture_output=True, text=True, timeout=seconds, check=False)

    def install(self, *words: str) -> None:
        """Install packages, by the words of pip. The constraints of a checkout are none of the wheel."""
        _call_uv("pip", "install", "--quiet", "--no-config", "--python", str(self.bin / "python"), *words)

    def freeze(self) -> set[str]:
        """What is installed: `name==version` each."""
        return {*_call_uv("pip", "freeze", "--python", str(self.bin / "python")).splitlines()}


def make(directory: Path, python: str = "") -> Environment:
    """Make one without packages, and build the wheel.

    Args:
        python: the program, as `python3.13`; else it is that of the tests.
    """
    (built,) = wheel.build(directory, "wheel")
    archive = Path(shutil.copy(built, directory / "sluice.zip"))
    _call_uv("venv", "--quiet", *(["--python", python] if python else []), str(directory / "venv"))
    return Environment(directory / "venv" / "bin", built, archive)


def _call_uv(*words: str) -> str:
    launcher = runpy.run_path(str(PROJECT / "sluice"))
    env = launcher["install_environment"]() | {"UV_LINK_MODE": "hardlink"}
    command = [launcher["find_uv"](env), *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode and (settings := launcher["pip_settings"]()):
        done = subprocess.run(command, env={**env, **settings}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def installed(directory: Path, *, lowest: bool = False, beside: Sequence[str] = (), python: str = "") -> Environment:
    """Make an environment with the wheel.

    Args:
        lowest: with the oldest versions that the wheel allows of what it names itself, in its extras as well; else
            with those of uv.lock, Airflow first, as it is in a deployment before ours comes.
        beside: these packages are there first instead, and the wheel changes none of what they bring.
        python: see `make`.
    """
    environment = make(directory, python)
    ours = f"sluice[postgresql,spark] @ {environment.wheel.as_uri()}"
    if lowest:
        # Direct is what a command or a file names.
        # Both PySparks would have different versions.
        extras = [f"--extra={name}" for name in extras_of_the_wheel() if name != "connect"]
        named = ["--requirements", str(PROJECT / "pyproject.toml"), *extras, str(environment.wheel)]
        environment.install("--resolution", "lowest-direct", *named, *_OF_AIRFLOW_3_1_0)
        environment.install("pytest", "pytest-xdist", "hypothesis", "moto[s3]", "flask", "flask-cors")
    elif beside:
        environment.install(*beside)
        before = environment.freeze()
        environment.install(ours)
        assert before <= environment.freeze()
    else:
        constraints = directory / "constraints.txt"
        exported = ["--frozen", "--all-extras", "--all-groups", "--no-emit-project", "--no-hashes", "--no-annotate"]
        constraints.write_text(_call_uv("export", "--quiet", "--no-header", *exported, "--project", str(PROJECT)))
        environment.install("--constraint", str(constraints), "apache-airflow")
        environment.install("--constraint", str(constraints), ours)
    return environment


def install_beside_spark(directory: Path, *packages: str, beside: Sequence[str] = ()) -> Environment:
    """Make an environment with these packages and the wheel, without Airflow: what a job has, and its executors.

    Args:
        beside: packages that are installed after them, whatever these ask for.
    """
    environment = make(directory)
    wanted = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dependencies"]
    wanted = [name for name in wanted if not name.startswith("apache-airflow")]
    environment.install(*wanted, "psycopg[binary]", *packages)
    environment.install("--no-deps", *beside, str(environment.wheel))
    return environment


def extras_of_the_wheel() -> list[str]:
    """Their names."""
    return [*tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]]


def without_the_product(environment: Environment, directory: Path) -> Path:
    """The Python of an environment with the same packages, but not ours: as a machine of executors has it."""
    python = directory / "bin" / "python"
    subprocess.run([environment.bin / "python", "-m", "venv", "--without-pip", directory], check=True)
    (theirs,) = environment.bin.parent.glob("lib/python*/site-packages")
    (here,) = directory.glob("lib/python*/site-packages")
    for entry in theirs.iterdir():
        if entry.name not in _PRODUCT and not entry.name.startswith(("sluice-", "_virtualenv")):
            (here / entry.name).symlink_to(entry)
    return python


def deployment(environment: Environment, directory: Path, metadata: str, port: int, java: Path) -> dict[str, str]:
    """What a shell of this Airflow has in its environment; nothing of a checkout, and no variable of ours but that of
    the configuration."""
    kept = {name: value for name, value in clean().items() if not name.startswith("SLUICE")}
    address = f"http://127.0.0.1:{port}"
    (directory / "users.json").write_text(json.dumps({"admin": "secret"}))
    return {
        **kept,
        "HOME": str(directory),
        "PATH": os.pathsep.join([str(environment.bin), str(java / "bin"), kept.get("PATH", os.defpath)]),
        "JAVA_HOME": str(java),
        "AIRFLOW_HOME": str(directory / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{address}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(directory / "users.json"),
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": address,
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API_AUTH__JWT_SECRET": "a secret of this test, as long as it has to be, and longer" * 2,
        "AIRFLOW__CORE__PARALLELISM": "6",
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": metadata,
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_ASYNC": metadata,
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }
