"""Refuse to execute a program that another user could replace, or a directory on the way to it."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

from sluice import paths
from sluice.errors import SluiceError


def expect_guarded(*programs: Path) -> None:
    """See that not all users may write there; and if we are root, that only root and the owner of this checkout may.

    The code of that one runs already.

    Raises:
        SluiceError: SLC-333.
    """
    root, checkout = os.geteuid() == 0, paths.PROJECT.stat()
    for program in programs:
        real = program.resolve()
        for path in (program, *program.absolute().parents, real, *real.parents):
            status = path.stat()
            strange = root and status.st_uid not in {0, checkout.st_uid}
            strange_group = root and status.st_mode & stat.S_IWGRP and status.st_gid not in {0, checkout.st_gid}
            # In such a directory nobody can replace what belongs to another.
            sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
            if strange or ((strange_group or status.st_mode & stat.S_IWOTH) and not sticky):
                raise SluiceError(
                    333,
                    f"others could replace {program}, which is to be executed: {path} belongs to user {status.st_uid} "
                    f"and group {status.st_gid}, mode {stat.S_IMODE(status.st_mode):04o}",
                    f"chmod go-w {shlex.quote(str(path))}, or give it to root; if somebody may have written there, "
                    "install it anew; then ./sluice up again",
                )
