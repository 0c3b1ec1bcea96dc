"""The stylesheet that a slave's messages pass: a file, which is looked for as the guide's replication does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sluice import log
from sluice.config.models import Stylesheets
from sluice.errors import ConfigError
from sluice.model.names import Pair
from sluice.model.stylesheet import Stylesheet


def stylesheet(wanted: Stylesheets, pair: Pair, prefix: str, version: str) -> Stylesheet | None:
    """The stylesheet that the messages of a replication pass; None, with a warning in the log, if there is no file.

    Args:
        prefix: the source's prefix.
        version: the version in the source's messages.

    Raises:
        ConfigError: SLC-161, it cannot be read, or the one that is named is not there.
    """
    directory = Path(wanted.directory)
    names = [wanted.name] if wanted.name else list(_names(wanted, pair.slave, prefix, version))
    try:
        existing = {path.name for path in directory.iterdir()}
        if file_name := next((name for name in names if wanted.name or name in existing), None):
            return Stylesheet(file_name, (directory / file_name).read_bytes())
    except OSError as error:
        raise ConfigError(
            161,
            f"the stylesheets of slave {pair.slave} cannot be read: {error}",
            "mount their directory where the jobs run, put the file there, or fix `stylesheets`; nothing was changed",
        ) from None
    log.event("no stylesheet, messages go as they are", slave=pair.slave, directory=directory, names=" ".join(names))
    return None


def _names(wanted: Stylesheets, slave: str, prefix: str, version: str) -> Iterator[str]:
    """The names of files, the closest first: for the session, for the groups that it belongs to, for all."""
    versions = "_".join([prefix.removesuffix("_"), version, wanted.version or version])
    parts = (wanted.session or slave).split("/")
    for several in (parts, parts[:-1]):
        if session := "".join(several):
            yield _file_name(f"{versions}_{session}")
    yield _file_name(versions)


def _file_name(name: str) -> str:
    return re.sub(r"[.:\[\]\s]", "_", name.replace("/", "")) + ".xsl"
