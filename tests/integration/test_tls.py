"""TLS to sources, slaves and the control store: certificates are verified, and `check` tells where they are not."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from itertools import product

import pytest
from psycopg import sql
from support import impostor
from support.secured import Authority
from support.updating import UpdatingWorld
from support.world import SOURCE, result

from sluice import libpq, tls
from sluice.capture.reconcile import bootstrap
from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.options import EXTERNAL
from sluice.monitor.check import findings
from sluice.store.engine import Store
from sluice.vendors.gaussdb import session as gaussdb
from sluice.vendors.gaussdb.capture.protocol.replication import ReplicationStream
from sluice.vendors.gaussdb.capture.slot.options import DecodingOptions
from sluice.vendors.mariadb import guarded
from sluice.vendors.mariadb import session as mariadb
from sluice.vendors.postgresql import programs
from sluice.vendors.postgresql import session as postgresql

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
    "a mode that is none": ({"extra": {"sslmode": "verified"}}, 'invalid sslmode value: "verified"', "fix `sslmode`"),
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


CANARY = "canary-7d1e"
WAYS = {
    "a job, a page and the shell": lambda info: postgresql.connect(info, "test"),
    "the control store": lambda info: Store(info).migrate(),
    "a GaussDB": lambda info: gaussdb.connect(info, "test"),
    "a stream": lambda info: ReplicationStream(info, DecodingOptions(()), "slot", 0),
}


def at(place: impostor.Impostor, kind: str = "postgres", **extra: object) -> ConnectionInfo:
    return ConnectionInfo(kind, "127.0.0.1", place.port, "d", "u", CANARY, extra)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_who_stands_in_a_servers_place_does_not_get_the_password(way):
    with impostor.impostor(impostor.of_postgresql) as place:
        with pytest.raises(SluiceError, match=r"SLC-684: .* asks for the password in clear") as caught:
            way(at(place))
        assert not isinstance(caught.value, TransientError)
        assert CANARY.encode() not in place.heard


def test_a_connection_may_say_that_the_password_is_sent_in_clear(monkeypatch, tmp_path):
    with impostor.impostor(impostor.of_postgresql) as place:
        with pytest.raises(TransientError, match="SLC-030"):
            postgresql.connect(at(place, require_auth="password"), "test")
        assert CANARY.encode() in place.heard
    # Programs know it by a variable. Who verifies the server may send what it asks for, as a token.
    given = [{}, {"sslmode": "verify-full"}, {"require_auth": "scram-sha-256"}]
    for number, extra in enumerate(given):
        (directory := tmp_path / str(number)).mkdir()
        given[number] = programs.environment(at(place, **extra), "test", directory, False).get("PGREQUIREAUTH")
    assert given == ["!password", None, "scram-sha-256"]


@pytest.fixture
def old_library(monkeypatch):
    """A libpq that knows no `require_auth`, and servers that are far away."""
    monkeypatch.setattr(libpq, "REQUIRED_SINCE", 99)
    monkeypatch.setattr(libpq, "is_far", bool)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_library_that_cannot_refuse_is_used_for_verified_servers_alone(way, old_library):
    with impostor.impostor(impostor.of_postgresql) as place:
        for extra in ({}, {"sslmode": "require"}, {"require_auth": "scram-sha-256"}):
            with pytest.raises(SluiceError, match=r"SLC-684: libpq \d+ cannot refuse") as caught:
                way(at(place, **extra))
            assert "sluice[postgresql]" in caught.value.hint
        assert place.heard == b""
        assert "require_auth" not in libpq.parameters(at(place, sslmode="verify-full"), "test")
        with pytest.raises(TransientError):
            way(at(place, require_auth="password,scram-sha-256"))


def test_a_program_that_cannot_refuse_gets_no_password_for_a_server_that_is_not_verified(world, tmp_path, monkeypatch):
    program = tmp_path / "pg_dump"
    program.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 15.18'")
    program.chmod(0o755)
    command = [str(program), *PG_DUMP[1:]]
    world.configure(lambda plain: plain["sources"][SOURCE]["initial_program"].update(command=command))
    bootstrap(world.context, SOURCE)
    info = world.infos["master"]
    programs.expect_safe(info, command)
    respell(world, "master", extra={"sslmode": "prefer", "sslrootcert": None})
    programs.expect_safe(world.infos["master"], command)
    monkeypatch.setattr(libpq, "is_far", bool)
    with pytest.raises(SluiceError, match="SLC-684: pg_dump 15 cannot refuse") as caught:
        world.inhibit(mode=EXTERNAL)
    assert "nothing was changed" in caught.value.hint
    assert "`initial_program`" in caught.value.hint
    program.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 16.2'")
    programs.expect_safe(world.infos["master"], command)
    programs.expect_safe(world.infos["master"], ["/opt/site/export.sh"])


PASSWORD, KEY = impostor.WHOLE_PASSWORD, impostor.PUBLIC_KEY
IMPOSTORS = {
    "in clear": (impostor.of_mariadb(b"mysql_clear_password"), False),
    "by a dialog": (impostor.of_mariadb(b"dialog", b"\x04Password: "), False),
    "by an old hash": (impostor.of_mariadb(b"mysql_old_password"), False),
    "whole, in TLS": (impostor.of_mariadb(b"caching_sha2_password", PASSWORD), True),
    "whole, by its key": (
        impostor.of_mariadb(b"caching_sha2_password", PASSWORD, KEY),
        False,
    ),
    "at once, in TLS": (impostor.of_mariadb(b"", first=b"sha256_password"), True),
    "by its key": (impostor.of_mariadb(b"sha256_password", KEY), False),
}


@pytest.mark.parametrize(("ask", "with_tls"), IMPOSTORS.values(), ids=IMPOSTORS)
def test_who_stands_in_the_place_of_a_mariadb_does_not_get_it_either(ask, with_tls, tmp_path, monkeypatch):
    # Servers of MySQL on the loopback read the password wherever they do not remember it.
    monkeypatch.setattr(guarded, "is_far", bool)
    certificate = Authority(tmp_path, "own").issue("localhost") if with_tls else None
    with impostor.impostor(partial(ask, files=certificate)) as place:
        with pytest.raises(SluiceError, match=r"SLC-684: .* asks for the password in clear") as caught:
            mariadb.connect(at(place, "mysql", **({"sslmode": "require"} if with_tls else {})), "test")
        assert not isinstance(caught.value, TransientError)
        assert CANARY.encode() not in place.heard


def test_a_connection_to_mariadb_may_say_so_as_well():
    with impostor.impostor(impostor.of_mariadb(b"mysql_clear_password")) as place:
        with pytest.raises(TransientError, match="SLC-030"):
            mariadb.connect(at(place, "mysql", cleartext_password=True), "test")
        assert CANARY.encode() in place.heard
