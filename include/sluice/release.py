"""The build of the product in this process, and the build of an executor.

Two builds differ in their version, or in a file of their code or SQL. What is pickled for an executor names functions
of the product: in another build these may be other functions, or none.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from zipfile import ZipFile

from sluice import paths
from sluice.errors import TransientError

VERSION = "0.1.0"
# Of the package. The first is in a wheel, the others are in no wheel.
_NOT_THE_PACKAGE = ("project", "bench", "demo", "dev")
_DIGITS = 12


@cache
def build() -> str:
    """The version of this process's product, and a digest of its code and SQL; the same in a checkout, a wheel and an
    archive.
    """
    lines = "".join(f"{name} {checksum}\n" for name, checksum in sorted(_checksums()))
    return f"{VERSION} (build {hashlib.sha256(lines.encode()).hexdigest()[:_DIGITS]})"


def another(where: str, there: str) -> TransientError:
    """The error of an executor that has another build than the job that asks it."""
    return TransientError(
        377,
        f"the executor on {where} has Sluice {there}, and its job Sluice {build()}",
        "nothing was moved; install one build on every machine that runs tasks (include/docs/install.md), and restart "
        "the executors: the next try goes on",
    )


def _checksums() -> Iterator[tuple[str, int]]:
    """The files that make the build: their names below the package and below `sql`, and their CRCs."""
    package = Path(__file__).parent
    if package.is_dir():
        for folder, kind in ((package, "py"), (paths.PROJECT / "sql", "sql")):
            for file in folder.rglob(f"*.{kind}"):
                name = file.relative_to(folder)
                if name.parts[0] not in _NOT_THE_PACKAGE:
                    yield f"{kind}/{name.as_posix()}", zlib.crc32(file.read_bytes())
    else:
        yield from _archive_files(package)


def _archive_files(package: Path) -> Iterator[tuple[str, int]]:
    """The same of an archive, which lists the CRCs."""
    archive = next(file for file in package.parents if file.is_file())
    inside = package.relative_to(archive).as_posix()
    with ZipFile(archive) as opened:
        for entry in opened.infolist():
            for folder, kind in ((inside, "py"), (f"{inside}/project/sql", "sql")):
                name = entry.filename.removeprefix(f"{folder}/")
                if name != entry.filename and name.endswith(f".{kind}") and name.split("/")[0] not in _NOT_THE_PACKAGE:
                    yield f"{kind}/{name}", entry.CRC
