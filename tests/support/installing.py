"""Programs that the distribution has and the environment has not: found, installed on a machine of CI, or skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable

import pytest


def installed(find: Callable[[], str | None], package: str) -> str:
    """Where a program is; skips if it is not there. A machine of CI is disposable: there it is installed."""
    found = find()
    # On every other machine it is for its owner to say what is installed.
    if found is None and os.environ.get("CI") and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for words in (["update"], ["install", "--yes", "--no-install-recommends", package]):
            subprocess.run(["apt-get", "--quiet", *words], env=quiet, check=True, capture_output=True)
        found = find()
    if found is None:
        pytest.skip(f"there is no {package}: apt install {package}")
    return found
