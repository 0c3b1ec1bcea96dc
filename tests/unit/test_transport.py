"""How a session travels: what of that is told to people."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.oracle_session import INFO, RecordedSession

from sluice.tls import Transport, is_far
from sluice.vendors.oracle import vendor as oracle

HERE, THERE, SEEN = "127.0.0.1", "192.0.2.7", "192.0.2.9"


NEAR = ["", "/run/postgresql", "@socket", "localhost", HERE, "127.8.9.1", "::1", "::ffff:127.0.0.1"]
FAR = ["db1", THERE, "10.0.0.1", "2001:db8::1", "fe80::1%eth0", "::ffff:192.0.2.7", "0.0.0.0"]


@pytest.mark.parametrize("address", NEAR)
def test_a_socket_and_the_loopback_are_of_this_machine(address):
    assert not is_far(address)


@pytest.mark.parametrize("address", FAR)
def test_every_other_address_is_not(address):
    assert is_far(address)


# The addresses of server and client, whether either end encrypts, what is asked for; what is told.
WAYS = {
    "a socket": ("", "", False, False, "prefer", None),
    "the loopback": (HERE, HERE, False, False, "disable", None),
    "asked for, and not there": (THERE, SEEN, False, False, "prefer", "192.0.2.7 is not encrypted"),
    "not verified": (THERE, SEEN, True, True, "require", "not verified (sslmode require)"),
    "signed by whom we trust": (THERE, SEEN, True, True, "verify-ca", None),
    "verified": (THERE, SEEN, True, True, "verify-full", None),
    "a pooler here that goes on without TLS": (HERE, SEEN, False, False, "prefer", "from 192.0.2.9 without encryption"),
    "a pooler here that goes on with TLS": (HERE, SEEN, False, True, "prefer", None),
    "a pooler there that goes on without TLS": (THERE, SEEN, True, False, "verify-full", "without encryption"),
    "a pooler beside the server": (THERE, HERE, True, False, "verify-full", None),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_unsafe_is_told(way):
    *seen, expected = way
    told = Transport(*seen).remark
    assert expected in told if expected else told is None


DSN = replace(INFO, host="", extra={"dsn": "tcps://db2:2484/shop"})


@pytest.mark.parametrize(
    ("info", "protocol", "client", "expected"),
    [
        (INFO, "tcp", SEEN, "the connection to db1 is not encrypted: set `protocol` tcps"),
        (INFO, "tcps", SEEN, None),
        (replace(INFO, host=HERE), "tcp", HERE, None),
        (DSN, "tcp", SEEN, "the connection to db2 is not encrypted"),
    ],
)
def test_an_oracle_is_asked_by_which_protocol_it_is_reached(info, protocol, client, expected, monkeypatch):
    session = RecordedSession({"session/transport": [(protocol, client)]})
    monkeypatch.setattr(oracle, "connect", lambda info, application: session)
    told = oracle.VENDOR.transport(info).remark
    assert expected in told if expected else told is None
    assert session.said[-1] == "CLOSE"
