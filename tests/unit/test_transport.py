"""How a session travels: what of that is told to people."""

from __future__ import annotations

import pytest

from sluice.tls import Transport, is_far

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
