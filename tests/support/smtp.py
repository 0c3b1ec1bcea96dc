"""A mail server on the loopback, which keeps what it is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread


class MailServer(ThreadingTCPServer):
    """SMTP, as far as a client with a login needs it.

    Attributes:
        mails: the messages, and `raw` what they were on the wire.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Session)
        self.raw: list[bytes] = []

    @property
    def mails(self) -> list[EmailMessage]:
        return [message_from_bytes(raw, EmailMessage, policy=policy.default) for raw in self.raw]


class _Session(StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say("220 test")
        while word := self.rfile.readline().split(b" ")[0].strip().upper():
            if word == b"EHLO":
                self._say("250-test", "250 AUTH PLAIN")
            elif word == b"DATA":
                self._say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.raw.append(b"".join(lines))
                self._say("250 kept")
            else:
                self._say({b"AUTH": "235 welcome", b"QUIT": "221 bye"}.get(word, "250 ok"))

    def _say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


@contextmanager
def mail_server(port: int) -> Iterator[MailServer]:
    with MailServer(port) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()
