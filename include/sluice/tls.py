"""TLS between Sluice and a database: what a session really has of it, and why it could not be set up.

A remark looks at both ends of a session, since a pooler or a proxy between them may end TLS. What was asked for does
not count: `sslmode` is `prefer` by default, which goes on without TLS where the server has none.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from sluice.errors import ConfigError, SluiceError

VERIFYING = ("verify-ca", "verify-full")
_AT_THE_SERVER = """
SELECT ssl, pg_catalog.host(pg_catalog.inet_client_addr())
FROM pg_catalog.pg_stat_ssl WHERE pid = pg_catalog.pg_backend_pid()
"""
_REMEDY = "`sslmode` verify-full and `sslrootcert` in the extra of its Airflow connection"

_NOTHING_SENT = "nothing was sent, no password either"
# Words of libpq and OpenSSL, which are in English whatever the server speaks -> HINT. Source: libpq's fe-secure.c,
# fe-secure-openssl.c and fe-connect.c.
_TROUBLES = {
    r"does not match host name|host name must be specified": (
        f"{_NOTHING_SENT}. Set Host of the Airflow connection to a name that the server's certificate has, or give the "
        "server a certificate with this one"
    ),
    r"certificate verify failed|root certificate": (
        f"{_NOTHING_SENT}. Put the certificate of the authority that signed the server's into the file that "
        "`sslrootcert` in the extra of the Airflow connection names, on every machine that runs jobs or Spark tasks; "
        "if the server's certificate has expired, give it a new one"
    ),
    r"server does not support SSL|(invalid|weak) sslmode|sslmode value|invalid connection option": (
        f"{_NOTHING_SENT}. Set `ssl = on` on the server, or fix `sslmode` and the like in the extra of the Airflow "
        "connection"
    ),
    r"certificate file|private key|does not match private key|alert .*(certificate|unknown ca)": (
        "nothing was read or written. Let `sslcert` and `sslkey` in the extra of the Airflow connection name a "
        "certificate that the server trusts and its key, with mode 600, on every machine that runs jobs or Spark tasks"
    ),
}

# Words of libpq for a value of a parameter that means nothing.
_NO_VALUE = r"invalid (?!sslmode)\w+ value|could not match \d+ |could not parse network address"
# libpq's word for a server that asks for another proof than `require_auth` allows.
_ASKED_FOR = "authentication method requirement"


@dataclass(frozen=True)
class Transport:
    """The transport of a session: encrypted, verified, or local.

    Attributes:
        server: the address that we connected to; empty for a unix socket.
        client: the address that the server sees; empty for a unix socket.
        leaves_encrypted: whether our end encrypts.
        arrives_encrypted: whether the server's end does.
        sslmode: what the connection asks for, as libpq calls it.
        remedy: what to set for a connection that is encrypted and verified.
    """

    server: str
    client: str
    leaves_encrypted: bool
    arrives_encrypted: bool
    sslmode: str
    remedy: str = _REMEDY

    @classmethod
    def from_session(cls, session: psycopg.Connection[Any]) -> Transport:
        """Ask both ends of a session. Raises psycopg.Error."""
        encrypted, client = session.execute(_AT_THE_SERVER).fetchone() or (False, None)
        return replace(cls.from_our_end(session), client=client or "", arrives_encrypted=encrypted)

    @classmethod
    def from_our_end(cls, session: psycopg.Connection[Any]) -> Transport:
        """Ask our end alone, where the server does not tell of its own."""
        asked = {option.keyword: option.val for option in session.pgconn.info}
        sslmode = (asked.get(b"sslmode") or b"prefer").decode()
        encrypted = session.pgconn.ssl_in_use
        return cls(session.info.hostaddr, "", encrypted, encrypted, sslmode)

    @property
    def remark(self) -> str | None:
        """A warning; None if the session is encrypted and verified, or does not leave the machine."""
        if is_far(self.server) and not self.leaves_encrypted:
            return f"the connection to {self.server} is not encrypted: set {self.remedy}"
        if is_far(self.client) and not self.arrives_encrypted:
            return f"the server is reached from {self.client} without encryption: let what is in between use TLS, too"
        if is_far(self.server) and self.sslmode not in VERIFYING:
            return (
                f"the connection to {self.server} is encrypted, but the server's certificate is not verified (sslmode "
                f"{self.sslmode}): set {self.remedy}"
            )
        return None


def is_far(address: str) -> bool:
    """Whether an IP address, or a host's name, may be of another machine; a unix socket has none, or a path."""
    if not address or address.startswith(("/", "@")) or address == "localhost":
        return False
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return True
    return not (getattr(known, "ipv4_mapped", None) or known).is_loopback


def remarks(session: psycopg.Connection[Any]) -> list[str]:
    """Warnings about the transport of a session; empty if it is safe. Raises psycopg.Error."""
    remark = Transport.from_session(session).remark
    return [remark] if remark else []


def trouble(error: BaseException | None, where: str) -> SluiceError | None:
    """SLC-311 if a session failed since TLS could not be set up, SLC-684 if the server asked for more of the password
    than it may have, SLC-017 if a parameter has no such value; None if it failed of something else.

    Args:
        where: what was connected to.
    """
    if not isinstance(error, psycopg.Error) or error.sqlstate:
        return None
    reason = "; ".join(filter(None, map(str.strip, str(error).splitlines())))
    if re.search(_NO_VALUE, reason):
        return ConfigError(
            17, f"a field of the connection to {where} is wrong: {reason}", "nothing was sent; fix that field"
        )
    if _ASKED_FOR in reason:
        return password_error(where, "`require_auth` password")
    for words, hint in _TROUBLES.items():
        if re.search(words, reason):
            return SluiceError(311, f"no TLS with {where} as its connection asks for it: {reason}", hint)
    return None


def password_error(where: str, allowing: str) -> SluiceError:
    """A server asks for a password in a form that it can read, and is not verified.

    Args:
        where: what was connected to.
        allowing: what in the extra of the connection allows it.
    """
    return SluiceError(
        684,
        f"{where} asks for the password in clear, and nothing proves that it is the right server",
        f"the password was not sent. Set {_REMEDY}; if the way to the server is safe anyway, set {allowing} there",
    )


def client_error(where: str, client: str, newer: str) -> SluiceError:
    """A client would send the password in any form that the server asks for, and does not verify it.

    Args:
        where: what it would connect to.
        client: its name and version.
        newer: how one comes that refuses that.
    """
    return SluiceError(
        684,
        f"{client} cannot refuse to send the password in clear, and nothing proves that {where} is the right server",
        f"nothing was sent; {newer}, or set {_REMEDY}; if the way to the server is safe anyway, set `require_auth` "
        "password,md5,scram-sha-256 there",
    )
