"""The error for bytes that are none of a format, and texts of bytes."""

from __future__ import annotations

from sluice.errors import SluiceError


def malformed(format: str, offset: int, fact: str) -> SluiceError:
    """The error that names the byte of a message at which it cannot be read."""
    return SluiceError(
        420,
        f"a message of the decoded stream in format {format} is malformed at byte {offset:,}: {fact}",
        "nothing of it was taken; run it again, so that the slot sends it anew. If that ends here again, this is a "
        "defect: report it with the version of the server",
    )


def text_of(format: str, raw: bytes, offset: int) -> str:
    """The text that these bytes are, which begin at `offset`. Raises SluiceError SLC-420 where they are none."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise malformed(format, offset + error.start, f"no UTF-8 ({error.reason})") from None
    if "\0" in text:
        raise malformed(format, offset + raw.index(0), "a zero byte, which no text of the server has")
    return text


def excerpt(text: str) -> str:
    """The begin of a text that is not understood."""
    return repr(text[:40])
