"""SQL literals, as the formats `t` and `j` have them, and the exact values that they stand for.

A literal is quoted, or a number, a truth value, bits, or one of two words: `null`, and the word for a value out of line
that did not change. A text that reads like one of the words is quoted, so they cannot be mistaken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

UNCHANGED = "unchanged-toast-datum"
# Nothing is tried twice: each part either takes all that it can, or the text is none of these.
LITERAL = (
    r"(?>'[^']*+(?:''[^']*+)*+'|null|true|false|NaN|[-+]?Infinity|B'[01]*+'"
    r"|[-+]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+)"
)
_SPECIAL = {"null": None, "true": "t", "false": "f"}
_is_literal = re.compile(LITERAL).fullmatch


def is_literal(text: str) -> bool:
    """Whether that is one literal, other than the word for an unchanged value."""
    return _is_literal(text) is not None


def exact(literals: Sequence[str]) -> pa.StringArray:
    """The values of a column of literals, as the database prints them."""
    column = pa.array(literals, pa.string())
    if pc.all(pc.starts_with(column, "'"), min_count=0).as_py():
        return _unquoted(column)
    # A column of one type is quoted or not, and there are few words: most often one look is enough.
    column = pc.if_else(pc.equal(column, "null"), pa.scalar(None, pa.string()), column)
    quoted, bits = pc.starts_with(column, "'"), pc.starts_with(column, "B'")
    if pc.any(quoted).as_py():
        column = pc.if_else(quoted, _unquoted(pc.if_else(quoted, column, "''")), column)
    if pc.any(bits).as_py():
        column = pc.if_else(bits, pc.utf8_slice_codeunits(pc.if_else(bits, column, "B''"), 2, -1), column)
    for word in ("true", "false"):
        # What was quoted is a text, even if it reads like the word.
        says = pc.and_(pc.equal(column, word), pc.invert(quoted))
        if pc.any(says).as_py():
            column = pc.if_else(says, _SPECIAL[word], column)
    return column


def _unquoted(column: pa.StringArray) -> pa.StringArray:
    inner = pc.utf8_slice_codeunits(column, 1, -1)
    return pc.replace_substring(inner, "''", "'")
