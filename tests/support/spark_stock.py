"""An environment with one PySpark and the wheel, without Airflow: what a job has, and its executors."""

from __future__ import annotations

import runpy
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

from sluice.dev import wheel
from sluice.paths import PROJECT


def install(directory: Path, *packages: str, beside: Sequence[str] = ()) -> Path:
    """Make one with these packages; its folder of programs.

    Args:
        beside: packages that are installed after them, whatever these ask for.
    """
    launcher = runpy.run_path(str(PROJECT / "sluice"))
    env = launcher["install_environment"]() | {"UV_LINK_MODE": "hardlink"}
    uv = launcher["find_uv"](env)
    (built,) = wheel.build(directory, "wheel")
    wanted = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dependencies"]
    wanted = [name for name in wanted if not name.startswith("apache-airflow")]
    place = directory / "venv"
    into = ["pip", "install", "--quiet", "--no-config", "--python", str(place / "bin" / "python")]
    for words in (
        ["venv", "--quiet", str(place)],
        [*into, *wanted, "psycopg[binary]", *packages],
        [*into, "--no-deps", *beside, str(built)],
    ):
        done = subprocess.run([uv, *words], env=env, capture_output=True, text=True, check=False)
        if done.returncode and (settings := launcher["pip_settings"]()):
            done = subprocess.run([uv, *words], env={**env, **settings}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return place / "bin"
