"""Whether a directory of initial data is what was stored: asked before anything of a slave is touched."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from sluice.errors import SluiceError
from sluice.initial_update.files.encoding import BUFFER_BYTES
from sluice.initial_update.files.manifest import MANIFEST, StoredDump, StoredFile, altered_error, incomplete_error
from sluice.initial_update.files.signature import SIGNATURE
from sluice.storage.directory import Directory
from sluice.store.transfers import Transfer


def check(directory: Directory, stored: StoredDump, awaited: Transfer, tasks: int) -> None:
    """Look at every file, several at the same time.

    Raises:
        SluiceError: SLC-183, some are missing, altered, or not of this dump.
    """
    files = directory.files()
    wanted = {file.name: file for file in stored.files}
    if missing := wanted.keys() - files.keys():
        raise incomplete_error(directory, missing, awaited)
    if strange := files.keys() - wanted.keys() - {MANIFEST, SIGNATURE}:
        raise SluiceError(
            183,
            f"{directory.url} has {len(strange)} files that nobody stored there, {min(strange)} among them",
            f"the slave keeps what it has; copy {awaited.url} to an empty directory of its name, then run this again",
        )
    with ThreadPoolExecutor(tasks) as pool:
        results = pool.map(lambda file: _fault(directory, file, files[file.name]), wanted.values())
        if faults := [fault for fault in results if fault]:
            raise altered_error(directory, faults, awaited)


def _fault(directory: Directory, file: StoredFile, size: int) -> str:
    if size != file.bytes:
        return f"{file.name} has {size} bytes, and had {file.bytes}"
    digest = hashlib.sha256()
    for buffer in _buffers(directory, file.name):
        digest.update(buffer)
    return "" if digest.hexdigest() == file.sha256 else f"{file.name} has another SHA-256 than when it was written"


def _buffers(directory: Directory, name: str) -> Iterator[bytes]:
    with directory.open(name) as stream:
        while buffer := stream.read(BUFFER_BYTES):
            yield buffer
