r"""Lines of COPY that `LOAD DATA` reads as COPY means them, so that nobody has to write them anew.

Both have a tab between values, a newline behind each row, a backslash before what is escaped, and `\N` for NULL. They
differ in some escapes, and in how values of some types are written.

Source: PostgreSQL manual, "COPY", "Text Format"; MariaDB Knowledge Base, "LOAD DATA INFILE".
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sluice.model.names import TableName
from sluice.values.copy_text import columns_of
from sluice.vendors.mariadb.types import Form, Stored, expect_fitting, is_checked

_WRITTEN_ALIKE = frozenset({Form.TEXT, Form.NUMBER, Form.FLOAT, Form.DATE, Form.TIME, Form.TIMESTAMP})
# To `LOAD DATA` the others are the letter itself: COPY has \f and \v, too.
_READ_ALIKE = (b"\\b", b"\\n", b"\\r", b"\\t")


def read_alike(table: TableName, columns: Sequence[Stored], lines: bytes) -> bool:
    """Whether the server can be given whole lines as they are.

    Raises:
        SluiceError: SLC-431, a value that a column cannot hold.
    """
    if not _WRITTEN_ALIKE.issuperset(one.form for one in columns) or not _escapes_alike(lines) or not _is_utf8(lines):
        return False
    checked = [place for place, one in enumerate(columns) if is_checked(one)]
    if checked:
        for place, values in zip(checked, columns_of(lines, len(columns), checked), strict=True):
            expect_fitting(table, columns[place], values)
    return True


def _escapes_alike(lines: bytes) -> bool:
    if b"\\" not in lines:
        return True
    # From here on a backslash is the first byte of an escape.
    left = lines.replace(b"\\\\", b"x")
    nulls = left.count(b"\\N")
    before = left.count(b"\t\\N") + left.count(b"\n\\N") + left.startswith(b"\\N")
    behind = left.count(b"\\N\t") + left.count(b"\\N\n")
    known = sum(map(left.count, _READ_ALIKE))
    return left.count(b"\\") == known + nulls and before == behind == nulls


def _is_utf8(lines: bytes) -> bool:
    """Without a copy: there may be hundreds of megabytes."""
    ends = pa.array([0, len(lines)], pa.int64()).buffers()[1]
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(lines)]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
