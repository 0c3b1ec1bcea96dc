"""Servers of older versions: the one that the package has besides, and the oldest supported one, of the machine."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import ClassVar

import pytest

from sluice.runtime import postgres_dirs
from sluice.runtime.postgres import SUPERUSER, Cluster

# A directory with `postgres` and `initdb`, of which a session's server is.
SERVER_ENV = "SLUICE_TEST_POSTGRES"
# That of the oldest version that is supported, where Debian puts it.
OLDEST = Path("/usr/lib/postgresql/15/bin")


class Older(Cluster):
    """PostgreSQL 16."""

    locale: ClassVar = ["--locale=C.UTF-8"]


class Installed(Cluster):
    """The server whose programs are in the directory that the environment names."""

    locale: ClassVar = Older.locale

    @property
    def bin(self) -> Path:
        """As the machine's package has them, for everybody."""
        return Path(os.environ[SERVER_ENV])

    def _write(self, name: str, text: str) -> None:
        # Before 16 a map of users knows no `all`, and nobody chooses how often passwords are hashed.
        text = re.sub(r"\ball$", SUPERUSER, text) if name == "pg_ident.conf" else text
        super()._write(name, text.replace("scram_iterations", "#"))


def cluster(directory: Path) -> Cluster:
    """The server of a test session: the packaged one, unless the environment names another."""
    return (Installed if SERVER_ENV in os.environ else Cluster)(directory)


@pytest.fixture(scope="module")
def older(server, tmp_path_factory):
    """Where databases of a world are to be: ``elsewhere={"zurich": older}``."""
    packaged = postgres_dirs.packaged_binaries()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(postgres_dirs, "packaged_binaries", lambda: packaged.parents[1] / "pginstall" / "bin")
        cluster = Older(tmp_path_factory.mktemp("older"))
        made = type(server)(cluster)
        made.start()
    yield made
    cluster.remove()
