"""What the extra of a connection says reaches the server, or is refused: nothing of it is dropped in silence."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError
from sluice.libpq import parameters
from sluice.vendors.address import parsed
from sluice.vendors.mariadb.session import connect as connect_to_mariadb
from sluice.vendors.postgresql.session import connect


def over(info, host, **extra):
    return replace(info, host=host, extra=extra)


@pytest.mark.postgres
def test_the_first_of_several_hosts_that_takes_writes_is_used(server):
    info = server.create_database()
    nowhere = "127.0.0.9"
    address = parsed(f"postgresql://u@{nowhere},{info.host}:{info.port}/d?target_session_attrs=read-write")
    several = over(info, address.host, **address.extra)
    with closing(connect(several, "test")) as session:
        assert session.info.host == info.host
        assert session.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)
    with pytest.raises(Exception, match="session is not read-only"):
        connect(over(info, several.host, target_session_attrs="read-only"), "test")


@pytest.mark.postgres
def test_an_address_stands_for_a_name_that_nobody_knows(server):
    info = server.create_database()
    with closing(connect(over(info, "db.invalid", hostaddr=info.host, keepalives=True), "test")) as session:
        assert session.info.host == "db.invalid"


# An extra, and what is said of it.
WRONG = {
    "a name of nothing": ({"target_sesion_attrs": "primary"}, "has target_sesion_attrs, which Sluice does not know"),
    "of Airflow's hook": ({"cursor": "dictcursor"}, "has cursor, which"),
    "set by us": ({"options": "-c role=eve"}, "has options, which"),
    "a file to write to": ({"sslkeylogfile": "/tmp/keys"}, "has sslkeylogfile, which"),
    "of another field": ({"dbname": "other"}, "has dbname, which"),
    "no value of it": ({"target_session_attrs": "best"}, 'invalid target_session_attrs value: "best"'),
    "no number": ({"keepalives_idle": "long"}, "is wrong: .*invalid integer value"),
    "no address": ({"hostaddr": "here"}, 'could not parse network address "here"'),
}


@pytest.mark.postgres
@pytest.mark.parametrize(("extra", "told"), WRONG.values(), ids=WRONG)
def test_what_means_nothing_is_refused(server, extra, told):
    with pytest.raises(ConfigError, match=f"SLC-017: .*{told}"):
        connect(over(server.create_database(), "127.0.0.1", **extra), "test")


@pytest.mark.parametrize("extra", [{}, {"iam": True, "region_name": "eu-central-1"}, {"sslmode": "require"}], ids=str)
def test_no_password_of_this_machine_is_led_elsewhere(extra):
    info = ConnectionInfo("postgres", "prod.invalid", login="u", extra={"hostaddr": "127.0.0.9", **extra})
    with pytest.raises(ConfigError, match=r"SLC-017: .* has `hostaddr`"):
        parameters(info, "test")
    own = replace(info, password="own", extra={"hostaddr": "127.0.0.9"})
    assert parameters(own, "test")["hostaddr"] == "127.0.0.9"


@pytest.mark.postgres
def test_an_extra_without_a_value_says_nothing(server):
    info = server.create_database()
    connect(over(info, info.host, hostaddr="", sslmode=None, write_timeout="60"), "test").close()


def test_of_mariadb_as_well():
    with pytest.raises(ConfigError, match=r"SLC-017: .* has unix_socket, which"):
        connect_to_mariadb(ConnectionInfo("mysql", "127.0.0.9", extra={"unix_socket": "/x"}), "test")
