"""Sessions that give their password to nobody who stands in the server's place.

The server chooses how it is proved who we are, and may choose a way by which it reads the password. The driver takes
every way. Sources: MariaDB Knowledge Base, "Authentication Plugins"; MySQL Reference Manual, "Authentication Plugins".
"""

from __future__ import annotations

from typing import Any

import pymysql.connections

from sluice.tls import is_far, password_error

# Ways that show the password at once; the old one scrambles it so that it is soon guessed. Servers of MySQL by default
# read the password in another way, wherever they do not remember it.
_READABLE = (b"mysql_clear_password", b"dialog", b"mysql_old_password")


class Guarded(pymysql.connections.Connection):  # type: ignore[misc]
    """A session whose login sends the password in a form that the server reads only where that is safe.

    Attributes:
        verifies: whether it verifies the server's certificate.
        in_clear: whether the server may have the password in clear anyway.
    """

    verifies = False
    in_clear = False
    _public_key: bytes | None = None

    @property
    def encrypts(self) -> bool:
        """Whether our end has begun TLS."""
        return bool(self._secure)

    @property
    def peer(self) -> str:
        """The IP address that it is connected to."""
        return str(self._sock.getpeername()[0])

    @property
    def server_public_key(self) -> bytes | None:
        """The key under which the password is sent without TLS. Whoever answers has named it."""
        return self._public_key

    @server_public_key.setter
    def server_public_key(self, key: bytes | None) -> None:
        if key:
            self._expect_right_server(near=True)
        self._public_key = key

    def write_packet(self, payload: bytes) -> None:
        """Send a packet. Raises SluiceError SLC-684 if it is the password, and may not be sent."""
        if self.password and payload == self.password + b"\0":
            self._expect_right_server(near=True)
        super().write_packet(payload)

    def _request_authentication(self) -> None:
        # With TLS the driver's first answer has the password.
        if self._auth_plugin_name == "sha256_password" and not self.verifies:
            self._expect_right_server(near=True)
        super()._request_authentication()

    def _process_auth(self, plugin_name: bytes, *more: Any) -> Any:
        if plugin_name in _READABLE:
            self._expect_right_server()
        return super()._process_auth(plugin_name, *more)

    def _expect_right_server(self, *, near: bool = False) -> None:
        """See that who reads the password may.

        Args:
            near: a server on the loopback may.
        """
        is_verified = self.verifies and self.encrypts
        if not (self.in_clear or is_verified or (near and not is_far(self.peer))):
            raise password_error(f"the server at {self.host}:{self.port}", "`cleartext_password` true")
