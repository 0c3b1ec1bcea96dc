"""TLS to sources, slaves and the control store: certificates are verified, and `check` tells where they are not."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import product

import pytest
from psycopg import sql
from support.updating import UpdatingWorld
from support.world import SOURCE, result

from sluice import tls
from sluice.capture.reconcile import bootstrap
from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.options import EXTERNAL
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, note text); INSERT INTO t VALUES (1, 'one'), (2, 'two')"
# As any version of it takes it.
PG_DUMP = ["pg_dump", "--snapshot={snapshot}", "-Fc", "-a", "--table={relation}"]
ENDS = ["control", "master", "zurich"]


@pytest.fixture
def world(secured, tmp_path, monkeypatch):
    """A world of which every part is on the server with TLS."""
    made = UpdatingWorld(secured, tmp_path / "world", DDL, ["public.t"], {}, ["zurich"])
    made.configure(lambda plain: plain["sources"][SOURCE].update(initial_program={"command": PG_DUMP}))
    made.verified = secured.verified
    monkeypatch.setenv(SEALED_ENV, seal(made.infos))
    yield made
    made.close()


def respell(world, name, **changed):
    """Change a connection of the world; its `extra` is added to, and None takes something out."""
    info = world.infos[name]
    extra = {key: value for key, value in {**info.extra, **changed.pop("extra", {})}.items() if value is not None}
    world.infos[name] = replace(info, extra=extra, **changed)
    world.configure(lambda plain: None)
    os.environ[SEALED_ENV] = seal(world.infos)


def told(world) -> dict[str, str]:
    """What is said of the way to the store, the source and the slave."""
    names = {"control store": "control", f"source {SOURCE}": "master", "slave zurich": "zurich"}
    found = {names[one.subject]: one for one in findings(world.context) if one.subject in names}
    assert all(one.good for one in found.values()), found
    return {name: one.text.rpartition("; ")[2] for name, one in found.items() if "the connection to" in one.text}


def test_all_work_is_done_over_verified_connections(world, secured):
    certificate, key = secured.authority.issue(world.infos["zurich"].login)
    with secured.cluster.admin() as admin:
        admin.execute(sql.SQL("GRANT certified TO {}").format(sql.Identifier(world.infos["zurich"].login)))
    with pytest.raises(SluiceError, match=r"SLC-031: .*valid client certificate") as refused:
        world.inhibit()
    assert "`sslcert` and `sslkey`" in refused.value.hint
    respell(world, "zurich", extra={"sslcert": str(certificate), "sslkey": str(key)})
    bootstrap(world.context, SOURCE)
    for how in ({}, {"mode": EXTERNAL}):
        world.inhibit(**how, force=True)
        assert world.dump(**how)["failed"] == {}
        world.release()
        world.publish()
        world.drain()
    world.master.execute("UPDATE t SET note = 'changed' WHERE id = 2")
    world.publish()
    # A process of its own gets the connections sealed, with all that is in their extra.
    assert result(world.job("drain", "--slave", "zurich", "--once"))["changes"] == 1
    assert world.differences() == {}


TROUBLES = {
    "another authority": ({"extra": {"sslrootcert": "stranger"}}, "certificate verify failed", "`sslrootcert`"),
    "no authority": ({"extra": {"sslrootcert": "/nowhere"}}, "does not exist", "`sslrootcert`"),
    "another host": ({"host": "127.0.0.1"}, 'does not match host name "127.0.0.1"', "Set Host"),
    "a mode that is none": ({"extra": {"sslmode": "verified"}}, 'invalid sslmode value: "verified"', "mend `sslmode`"),
    "no key": ({"extra": {"sslcert": "own"}}, "not private key file", "`sslkey`"),
}


@pytest.fixture
def files(secured, tmp_path):
    """What stands for files in connections of these tests."""
    return {
        "stranger": type(secured.authority)(tmp_path, "stranger").file,
        "own": secured.authority.file,
    }


def test_a_server_that_cannot_be_verified_is_refused_for_good(world, files):
    good = dict(world.infos)
    for name, (changed, fact, hint) in product(ENDS, TROUBLES.values()):
        extra = {key: str(files.get(value, value)) for key, value in changed.get("extra", {}).items()}
        world.infos.update(good)
        respell(world, name, **{**changed, "extra": extra})
        with pytest.raises(SluiceError, match=rf"SLC-311: .*{fact}") as caught:
            world.drain() if name == "zurich" else world.publish()
        assert not isinstance(caught.value, TransientError)
        assert hint in caught.value.hint
        assert good[name].password not in str(caught.value)


def test_a_server_without_tls_is_refused_where_tls_is_asked_for(world, server):
    good, bare = dict(world.infos), replace(server.create_database(), extra={"sslmode": "require"})
    for name in ENDS:
        world.infos.update({**good, name: bare})
        world.configure(lambda plain: None)
        with pytest.raises(SluiceError, match=r"SLC-311: .*server does not support SSL") as caught:
            world.drain() if name == "zurich" else world.publish()
        assert "`ssl = on`" in caught.value.hint


def test_a_server_that_wants_tls_says_so_to_those_who_do_not(world):
    respell(world, "zurich", extra={"sslmode": "disable"})
    with pytest.raises(SluiceError, match=r"SLC-031: .*no encryption") as caught:
        world.inhibit()
    assert "set `sslmode`" in caught.value.hint


def test_check_tells_which_ways_beyond_the_loopback_are_not_safe(world, updating, monkeypatch):
    plain = updating(DDL, ["public.t"], {}, slaves=["zurich"])
    plain.configure(lambda settings: settings.update(control="control"))
    for name in ENDS:
        respell(world, name, extra={"sslmode": "prefer", "sslrootcert": None})
    assert told(plain) == told(world) == {}, "nothing leaves this machine"
    # Servers of tests listen on the loopback alone: let that be far away.
    monkeypatch.setattr(tls, "is_far", bool)
    assert told(plain) == dict.fromkeys(ENDS, f"the connection to 127.0.0.1 is not encrypted: set {tls._REMEDY}")
    unverified = "is encrypted, but the server's certificate is not verified (sslmode prefer)"
    assert told(world) == dict.fromkeys(ENDS, f"the connection to 127.0.0.1 {unverified}: set {tls._REMEDY}")
    for name in ENDS:
        respell(world, name, extra=world.verified)
    assert told(world) == {}
