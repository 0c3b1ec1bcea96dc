"""uv.lock without the addresses of a package index: every file by name and hash, from whatever index a machine uses.

uv writes addresses. Without them it still exports every version with its hashes, which is all that installing needs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote

from sluice import paths
from sluice.errors import SluiceError

LOCK = paths.PROJECT / "uv.lock"


def update(*, upgrade: bool = False, file: Path = LOCK) -> int:
    """Resolve pyproject.toml again, and write the lock file without addresses; 0 if it worked."""
    command = [_uv(), "lock", "--project", str(file.parent), *(["--upgrade"] if upgrade else [])]
    before = file.read_text()
    try:
        subprocess.run(command, check=True)
        file.write_text(without_addresses(file.read_text()))
    except subprocess.CalledProcessError as error:
        file.write_text(before)
        return error.returncode
    return 0


def without_addresses(text: str) -> str:
    """The text of a uv.lock with names instead of addresses."""
    text = re.sub(r'source = \{ registry = "[^"]*" \}', 'source = { registry = "" }', text)
    # Some indexes tell how large a file is, and others do not.
    text = re.sub(r"\bsize = \d+, ", "", text)
    return re.sub(r'\burl = "[^"]*/([^"/]+)"', lambda match: f'filename = "{unquote(match[1])}"', text)


def _uv() -> str:
    """The launcher's, or the machine's."""
    boot = paths.PROJECT / ".sluice" / "boot"
    for candidate in (boot / "venv" / "bin" / "uv", boot / "lib" / "bin" / "uv", shutil.which("uv")):
        if candidate and Path(candidate).exists():
            return str(candidate)
    raise SluiceError(281, "there is no uv", "pip install uv")
