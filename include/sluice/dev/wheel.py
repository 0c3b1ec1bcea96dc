"""`./sluice build`: the package as a wheel, with the project's other folders in it (pyproject.toml says which)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sluice import paths
from sluice.dev.packages import require
from sluice.errors import SluiceError


def build(directory: Path) -> Path:
    """Build the wheel into a directory; where it is.

    Raises:
        SluiceError: SLC-281, the packages for developers are not installed; SLC-396, it cannot be built.
    """
    require("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(directory.resolve())]
    done = subprocess.run(
        command, cwd=paths.PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise SluiceError(396, f"the wheel was not built:\n{done.stdout.strip()}", "mend what it says, then try again")
    return directory / Path(done.stdout.strip().splitlines()[-1]).name
