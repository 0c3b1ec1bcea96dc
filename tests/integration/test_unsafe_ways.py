"""`check` names each way to a database that others can read, or whose server is not verified, for every kind of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.gauss import gauss, needed, standing_in
from support.world import SOURCE

from sluice import tls
from sluice.monitor.check import findings

__all__ = ["gauss", "standing_in"]

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v varchar(9))"
DATABASES = [f"source {SOURCE}", "slave zurich", f"comparisons of {SOURCE}", "comparisons of zurich"]


@pytest.fixture
def far(monkeypatch):
    """Servers of tests listen on the loopback alone: let that be far away."""
    return lambda: monkeypatch.setattr(tls, "is_far", bool)


def let_comparisons_read(world):
    """Let them have connections of their own."""

    def configured(settings):
        settings["sources"][SOURCE]["reading_connection"] = "reads_master"
        settings["slaves"]["zurich"]["reading_connection"] = "reads_zurich"

    world.infos |= {f"reads_{side}": world.infos[side] for side in ("master", "zurich")}
    world.configure(configured)


def told(world) -> dict[str, str]:
    """What is said last of each way that is not safe."""
    unsafe = [one for one in findings(world.context) if "the connection to 127" in one.text]
    assert all(one.good for one in unsafe), unsafe
    return {one.subject: one.text.rpartition("; ")[2] for one in unsafe if one.subject in DATABASES}


def test_connections_of_comparisons_are_told_too(updating, far):
    world = updating(DDL, ["public.t"], {}, slaves=["zurich"])
    let_comparisons_read(world)
    assert told(world) == {}
    far()
    assert told(world) == dict.fromkeys(DATABASES, f"the connection to 127.0.0.1 is not encrypted: set {tls._REMEDY}")


@needed
def test_a_gaussdb_without_tls_is_told(gauss, far):
    world = gauss()
    assert told(world) == {}
    far()
    unsafe = f"the connection to 127.0.0.1 is not encrypted: set {tls._REMEDY}"
    assert told(world) == dict.fromkeys([f"source {SOURCE}", "slave zurich"], unsafe)


UNSAFE = {
    "maria_server": "is not encrypted",
    "mysql_server": "is encrypted, but the server's certificate is not verified (sslmode prefer)",
}


@pytest.mark.full(but=["maria_server"])
@pytest.mark.parametrize(("master_server", "unsafe"), UNSAFE.items(), ids=UNSAFE, indirect=["master_server"])
def test_masters_and_slaves_on_mariadb_and_mysql_are_told(binlog, master_server, unsafe, far):
    world, _ = binlog(DDL, ["t"], into="mariadb", update=False)
    let_comparisons_read(world)
    assert told(world) == {}
    far()
    assert told(world) == dict.fromkeys(DATABASES, f"the connection to 127.0.0.1 {unsafe}: set {tls._REMEDY}")
    if unsafe == UNSAFE["mysql_server"]:
        authority = master_server._directory / "data" / "ca.pem"
        verified = {"sslmode": "verify-ca", "sslrootcert": str(authority)}
        world.infos |= {
            name: replace(info, extra=verified) for name, info in world.infos.items() if info.port == master_server.port
        }
        world.configure(lambda plain: None)
        assert told(world) == {}
