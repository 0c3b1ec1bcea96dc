"""A server of the version that the package has besides: what newer ones know, it does not."""

from __future__ import annotations

from typing import ClassVar

import pytest

from sluice.runtime import postgres_dirs
from sluice.runtime.postgres import Cluster


class Older(Cluster):
    """PostgreSQL 16."""

    locale: ClassVar = ["--locale=C.UTF-8"]


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
