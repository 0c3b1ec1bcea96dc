"""A cross-section of these tests on the oldest server that is supported, as the machine's packages have it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.older import OLDEST, SERVER_ENV

from sluice.paths import PROJECT

pytestmark = [pytest.mark.full, pytest.mark.postgres, pytest.mark.slow]


@pytest.mark.skipif(not OLDEST.exists(), reason=f"there is no {OLDEST}: install the package postgresql-15")
@pytest.mark.parametrize("what", ["capture", "publish", "drain"])
def test_what_holds_on_the_newest_server_holds_on_the_oldest(what):
    file = Path(__file__).parent / f"test_{what}.py"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", str(file)]
    mine = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    done = subprocess.run(
        command, cwd=PROJECT, env={**mine, SERVER_ENV: str(OLDEST)}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
    assert " skipped" not in done.stdout
