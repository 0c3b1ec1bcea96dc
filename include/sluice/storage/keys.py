"""Files with secret keys that people make: one that others may read or change is refused, as ssh does."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

from sluice.errors import ConfigError


def secret(file: str) -> bytes:
    """The content of a file that holds a secret key.

    One that another user owns is theirs to protect: a secret that is mounted into a container may be read by its group.

    Raises:
        ConfigError: SLC-243, it is ours, and its group or others may read it or write to it.
        OSError: it cannot be read.
    """
    with Path(file).open("rb") as opened:
        stats = os.fstat(opened.fileno())
        if stats.st_uid == os.geteuid() and stats.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(
                243,
                f"others may read {file}, which holds a secret, or write to it: mode {stat.S_IMODE(stats.st_mode):04o}",
                f"chmod 600 {shlex.quote(file)}, on every machine that has it; nothing was stored or loaded. If "
                "somebody may have read it, make another key",
            )
        return opened.read()
