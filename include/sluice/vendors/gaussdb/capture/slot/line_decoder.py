"""What formats `t` and `j` share: a message is a statement in a text, or a batch of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from sluice.errors import SluiceError
from sluice.vendors.gaussdb.capture.slot import boundaries
from sluice.vendors.gaussdb.capture.slot.envelope import statements
from sluice.vendors.gaussdb.capture.slot.literals import exact
from sluice.vendors.gaussdb.capture.slot.malformed import text_of
from sluice.vendors.gaussdb.capture.slot.records import Decoded, Records


class LineDecoder(ABC):
    """Decodes messages, one after the other.

    Args:
        batched: whether a message is a batch of statements.
    """

    format: ClassVar[str]

    def __init__(self, *, batched: bool = False) -> None:
        self._batched = batched
        self.records = Records(exact)

    def feed(self, message: bytes, lsn: int | None = None) -> None:
        """Take a message that stands at `lsn`, if that is known.

        Raises:
            SluiceError: SLC-420; what came since it was taken last cannot be taken any more.
        """
        try:
            self.records.expect_room(len(message))
            for raw, own, offset in statements(self.format, message, lsn, self._batched):
                if not boundaries.message(self.format, raw, offset, self.records):
                    self._statement(text_of(self.format, raw, offset), own, offset)
        except SluiceError:
            self.records.fail()
            raise

    def taken(self) -> Decoded:
        """All that was decoded since it was taken last."""
        return self.records.taken()

    @abstractmethod
    def _statement(self, text: str, lsn: int | None, offset: int) -> None:
        """Take a statement, which begins at `offset` of its message."""
