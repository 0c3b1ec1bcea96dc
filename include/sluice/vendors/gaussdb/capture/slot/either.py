"""Statements one by one as a SQL function or serial decoding gives them: which of both formats of text is seen by the
statement itself.
"""

from __future__ import annotations

from sluice.vendors.gaussdb.capture.slot.json_text import JsonDecoder
from sluice.vendors.gaussdb.capture.slot.records import Decoded
from sluice.vendors.gaussdb.capture.slot.text import TextDecoder


class EitherDecoder:
    """Decodes statements of format `t` and of format `j`, which nothing but an object begins with a brace."""

    def __init__(self) -> None:
        self._text, self._json = TextDecoder(), JsonDecoder()
        self.records = self._json.records = self._text.records

    def feed(self, message: bytes, lsn: int | None = None) -> None:
        """See `LineDecoder`."""
        (self._json if message.startswith(b"{") else self._text).feed(message, lsn)

    def taken(self) -> Decoded:
        """See `LineDecoder`."""
        return self._text.taken()
