"""`./sluice docs`: the site of include/docs, served on the loopback, or built into a directory."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from sluice import paths
from sluice.dev.packages import require
from sluice.runtime import ports
from sluice.runtime.paths import BIN

_PORT = 8000
_SETTINGS = ("--config-file", str(paths.PROJECT / "mkdocs.yml"))


def serve() -> int:
    """Serve the site until it is interrupted, and build it again whenever a page changes.

    Raises:
        SluiceError: SLC-281, the packages for developers are not installed; SLC-411, no port is free.
    """
    require("mkdocs")
    address = f"{ports.LOOPBACK}:{ports.choose('docs', _PORT)}"
    program = str(BIN / "mkdocs")
    os.execv(program, [program, "serve", "--dev-addr", address, *_SETTINGS])


def build(directory: Path) -> int:
    """Build the site, and copy it into a directory, in which other files stay; 0 if there was no warning.

    Raises:
        SluiceError: SLC-281, the packages for developers are not installed.
    """
    require("mkdocs")
    # MkDocs empties the directory that it builds into.
    with tempfile.TemporaryDirectory(prefix="sluice-docs-") as site:
        command = [str(BIN / "mkdocs"), "build", "--strict", "--site-dir", site, *_SETTINGS]
        if code := subprocess.run(command).returncode:
            return code
        shutil.copytree(site, directory, dirs_exist_ok=True)
    print(f"The site is in {directory}; it begins with {directory / 'index.html'}")
    return 0
