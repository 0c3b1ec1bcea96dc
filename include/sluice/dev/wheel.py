"""`./sluice build`: the package as a wheel, with the project's other folders in it (pyproject.toml says which); and its
source as an archive.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sluice import paths
from sluice.dev.packages import require
from sluice.errors import SluiceError

TARGETS = ("sdist", "wheel")


def build(directory: Path, *targets: str) -> list[Path]:
    """Build into a directory; where the files are.

    Args:
        targets: `wheel`, `sdist`; both, if nothing is said.

    Raises:
        SluiceError: SLC-281, the packages for developers are not installed; SLC-397, it cannot be built.
    """
    require("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(directory.resolve())]
    for target in targets or TARGETS:
        command += ["--target", target]
    done = subprocess.run(
        command, cwd=paths.PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise SluiceError(397, f"the wheel was not built:\n{done.stdout.strip()}", "fix what it says, then try again")
    # Of several targets it names each before its file.
    return [directory / Path(line).name for line in done.stdout.splitlines() if not line.startswith("[")]
