"""The one text that a value has in the log, by its kind; see "Logical types" in types.md. It is what PostgreSQL prints
under the settings that its sessions pin, so nothing is converted there; another vendor prints its values so, and
reads them.
"""

from __future__ import annotations

import re

from sluice.model.logical_type import Kind, LogicalType

_DAY = r"\d{4,7}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(\.\d{1,6})?"
_ZONE = r"[+-]\d\d(:\d\d){0,2}"
_INFINITE = r"-?infinity"
_PART = r"[+-]?\d+ (year|mon|day)s?"

# Exactly these texts are values of a kind, as far as an expression tells. Of an ARRAY, see `is_canonical`.
_TEXTS = {
    Kind.BOOLEAN: r"[tf]",
    Kind.INTEGER: r"0|-?[1-9]\d*",
    Kind.DECIMAL: r"-?(0|[1-9]\d*)(\.\d+)?|NaN|-?Infinity",
    Kind.FLOAT: r"-?\d+(\.\d+)?(e[+-]\d\d+)?|NaN|-?Infinity",
    Kind.TEXT: r"[^\0]*",
    Kind.BYTES: r"\\x([0-9a-f]{2})*",
    Kind.DATE: rf"{_DAY}( BC)?|{_INFINITE}",
    Kind.TIME: _CLOCK,
    Kind.TIME_WITH_ZONE: rf"{_CLOCK}{_ZONE}",
    Kind.TIMESTAMP: rf"{_DAY} {_CLOCK}( BC)?|{_INFINITE}",
    Kind.TIMESTAMP_WITH_ZONE: rf"{_DAY} {_CLOCK}\+00( BC)?|{_INFINITE}",
    Kind.INTERVAL: rf"(?=.)({_PART}( |$))*([+-]?\d\d+:\d\d:\d\d(\.\d{{1,6}})?)?|{_INFINITE}",
    Kind.UUID: r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    Kind.JSON: r"[^\0]+",
    Kind.BIT: r"[01]*",
    Kind.ARRAY: r"(\[-?\d+:-?\d+\])*(?(1)=)\{.*\}",
    Kind.OTHER: r"[^\0]*",
}
_PATTERNS = {kind: re.compile(text, re.DOTALL) for kind, text in _TEXTS.items()}


def is_canonical(kind: LogicalType, text: str) -> bool:
    """Whether a text is one that the log may have for a value of this type, as far as its form tells."""
    return _PATTERNS[kind.kind].fullmatch(text) is not None
