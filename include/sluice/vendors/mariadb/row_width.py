"""How many bytes the rows of a slave's table may have, and which texts are kept apart so that they have no more (R7).

Sources: MariaDB Knowledge Base, "InnoDB Limitations"; MySQL Reference Manual, "Limits on Table Column Count and Row
Size".
"""

from __future__ import annotations

from collections.abc import Sequence

from sluice.vendors.mariadb.types import LONGTEXT, Stored

# A stage has a byte more.
_MOST = 65_534
# The most bytes of a value. Of long texts a row has their places alone.
_BYTES = {
    "tinyint": 1,
    "smallint": 2,
    "date": 3,
    "int": 4,
    "time": 6,
    "bigint": 8,
    "double": 8,
    "datetime": 8,
    LONGTEXT: 12,
    "longblob": 12,
    "decimal": 30,
    "char": 36,
}
_SIGN_BYTES = 4


def fit(columns: Sequence[Stored], key: Sequence[str]) -> tuple[Stored, ...]:
    """Columns of one table. If its rows had too many bytes, the longest texts out of the key take every text."""
    widths = [_bytes(one) for one in columns]
    surplus = sum(widths) + (len(columns) + 7) // 8 - _MOST
    made = list(columns)
    for index in sorted(range(len(columns)), key=lambda index: -widths[index]):
        one = columns[index]
        if surplus <= 0 or widths[index] <= _BYTES[LONGTEXT]:
            break
        if one.type.startswith("varchar") and one.column.name not in key:
            made[index] = one.as_text
            surplus -= widths[index] - _BYTES[LONGTEXT]
    return tuple(made)


def _bytes(one: Stored) -> int:
    kind, _, rest = one.type.partition("(")
    if kind != "varchar":
        return _BYTES[kind]
    signs = _SIGN_BYTES * int(rest.rstrip(")"))
    return signs + (1 if signs < 256 else 2)
