"""A server that stands in for a GaussDB: PostgreSQL 15, whose plugin prints what the one of GaussDB was made from."""

from __future__ import annotations

import pytest
from support.older import OLDEST, SERVER_ENV, Installed
from support.places import reserve_port, server_directory

from sluice.vendors.gaussdb import vendor
from sluice.vendors.gaussdb.capture.settings import Plugin

STANDING_IN = Plugin("test_decoding", frozenset({"include-xids", "include-timestamp", "skip-empty-xacts"}))
needed = pytest.mark.skipif(not OLDEST.exists(), reason=f"there is no {OLDEST}: install the package postgresql-15")


@pytest.fixture(scope="module")
def standing_in(server, tmp_path_factory):
    """The server."""
    with server_directory(tmp_path_factory.mktemp("gauss")) as directory, pytest.MonkeyPatch.context() as patched:
        patched.setenv(SERVER_ENV, str(OLDEST))
        made = type(server)(Installed(directory))
        # What is committed without waiting for the disk stays off it for long, as on a busy disk.
        settings = "fsync = off\nfull_page_writes = off\nwal_level = logical\nmax_replication_slots = 60"
        made.cluster.start(f"{settings}\nwal_writer_delay = 10s", reserve_port())
        yield made
        made.cluster.remove()


@pytest.fixture
def gauss(build, standing_in, monkeypatch):
    """Makes worlds whose master is taken for a GaussDB."""
    monkeypatch.setattr(vendor, "PLUGIN", STANDING_IN)

    def one(ddl="CREATE TABLE t (id int PRIMARY KEY, v text)", tables=("public.t",), **more):
        source = {"vendor": "gaussdb", "capture": "log", **more.pop("source", {})}
        return build(ddl, tables, source=source, **{"elsewhere": {"master": standing_in}, **more})

    return one
