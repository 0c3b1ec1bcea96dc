"""Programs that the distribution has and the environment has not: found, installed on a machine of CI, or skipped."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

_LOCK = Path(tempfile.gettempdir()) / "sluice-tests-install.lock"


def installed(find: Callable[[], str | None], package: str) -> str:
    """Where a program is; skips if it is not there. A machine of CI is disposable: there it is installed."""
    found = find()
    # On every other machine it is for its owner to say what is installed.
    if found is None and os.environ.get("CI") and os.geteuid() == 0 and shutil.which("apt-get"):
        # apt refuses a second call beside the first.
        with _LOCK.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = find() or _install(find, package)
    if found is None:
        pytest.skip(f"there is no {package}: apt install {package}")
    return found


def _install(find: Callable[[], str | None], package: str) -> str | None:
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "--yes", "--no-install-recommends", package]):
        subprocess.run(["apt-get", "--quiet", *words], env=quiet, check=True, capture_output=True)
    return find()
