"""The order of a table's rows by their primary key, and ranges of it: always as the server compares (R10)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.vendors.key_condition import between
from sluice.vendors.mariadb.master_types import INTEGERS
from sluice.vendors.mariadb.session import Connection, Sql, composed, execute, quoted
from sluice.vendors.protocol.read import Key, KeyRange

# How many keys are asked about at a time.
_ASKED = 200
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_MOMENT = re.compile(r"[-:. 0-9]+")
_BYTES = re.compile(r"\\x((?:[0-9a-f]{2})*)")
_UUID = re.compile(r"[-0-9a-f]{36}")


@dataclass(frozen=True)
class _Kind:
    """How values of a kind are written: beside a column, from its canonical text, and without one."""

    family: str
    literal: Callable[[str], str]
    value: str = "{0}"


def _as_it_is(pattern: re.Pattern[str], shown: str) -> Callable[[str], str]:
    def written(text: str) -> str:
        if pattern.fullmatch(text) is None:
            raise ValueError(f"{text!r} is no value of a key")
        return shown.format(text)

    return written


def _text(text: str) -> str:
    return f"_utf8mb4 X'{text.encode().hex()}'"


def _bytes(text: str) -> str:
    found = _BYTES.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} are no bytes")
    return f"X'{found[1]}'"


_moment = _as_it_is(_MOMENT, "'{0}'")
_KINDS: Mapping[str, _Kind] = {
    **dict.fromkeys([*INTEGERS, "decimal"], _Kind("number", _as_it_is(_NUMBER, "{0}"))),
    **dict.fromkeys(["char", "varchar"], _Kind("text", _text, "CONVERT({0} USING {1}) COLLATE {2}")),
    **dict.fromkeys(["binary", "varbinary"], _Kind("bytes", _bytes)),
    "date": _Kind("date", _moment, "CAST({0} AS DATE)"),
    "datetime": _Kind("moment", _moment, "CAST({0} AS DATETIME(6))"),
    # The session's time zone is UTC.
    "timestamp": _Kind("moment in utc", lambda text: _moment(text.removesuffix("+00")), "CAST({0} AS DATETIME(6))"),
    "uuid": _Kind("uuid", _as_it_is(_UUID, "'{0}'"), "CAST({0} AS UUID)"),
}


@dataclass(frozen=True)
class KeyColumn:
    """A column of a key, and what its values are sorted by."""

    name: str
    kind: str
    charset: str | None
    collation: str | None

    @property
    def sign(self) -> str:
        """Another text if they are sorted otherwise."""
        return f"{quoted(self.name)} {_KINDS[self.kind].family} {self.collation or ''}".rstrip()

    @property
    def is_integer(self) -> bool:
        """Whether its values are whole numbers."""
        return self.kind in INTEGERS

    def literal(self, text: str) -> str:
        """A value to compare the column with."""
        return _KINDS[self.kind].literal(text)

    def value(self, text: str) -> str:
        """A value that is compared like one of the column."""
        return _KINDS[self.kind].value.format(self.literal(text), self.charset, self.collation)


@dataclass(frozen=True)
class KeyOrder:
    """The columns of a primary key, in its order."""

    columns: tuple[KeyColumn, ...]

    @property
    def sign(self) -> str:
        """Another text if rows are sorted otherwise."""
        return ", ".join(one.sign for one in self.columns)

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [one.name for one in self.columns]

    @property
    def sorted(self) -> Sql:
        """What rows are sorted by."""
        return Sql(", ".join(map(quoted, self.names)))

    def between(self, within: KeyRange, last: Key | None = None, called: Sequence[Sql] | None = None) -> Sql:
        """The condition for the rest of a range, or for its next rows up to a last key.

        Args:
            called: the columns, where they are not those of the table.
        """
        names = called or [quoted(name) for name in self.names]
        asked = between(names, within, last, lambda place, text: self.columns[place].literal(text))
        return Sql(" AND ".join(asked) or "TRUE")

    def inside(self, session: Connection, keys: Sequence[Key], within: KeyRange, last: Key | None) -> set[Key]:
        """Those of some keys that are in a range, up to a last one.

        Raises:
            SluiceError: SLC-099, the server does not say so of one of them.
        """
        condition = self.between(within, last, [Sql(f"asked.part_{place}") for place in range(len(self.columns))])
        found: set[Key] = set()
        for begin in range(0, len(keys), _ASKED):
            some = keys[begin : begin + _ASKED]
            listed = Sql(" UNION ALL ".join(self._listed(number, key) for number, key in enumerate(some)))
            said: dict[str, str] = dict(execute(session, composed("read/among", within=condition, keys=listed)))
            if {said.get(str(number)) for number in range(len(some))} - {"0", "1"}:
                raise SluiceError(
                    99,
                    f"the server does not say whether keys of {within.table} are in a range",
                    "nothing was written; a defect: report it with the types of its primary key. Until then run "
                    "initial_update in the mode `snapshot`",
                )
            found |= {key for number, key in enumerate(some) if said[str(number)] == "1"}
        return found

    def _listed(self, number: int, key: Key) -> str:
        values = map(KeyColumn.value, self.columns, key)
        parts = [f"{value} AS part_{place}" for place, value in enumerate(values)]
        return f"SELECT {', '.join([f'{number} AS number', *parts])}"


def key_order(session: Connection, name: TableName) -> KeyOrder | None:
    """The order of a table's rows; None if it has no primary key, or one by which the server sorts in another way than
    it compares, or by parts of values.
    """
    rows = execute(session, composed("catalog/key_order"), {"schema": name.schema, "table": name.table})
    if not rows or any(kind not in _KINDS or part is not None for _, kind, _, _, part in rows):
        return None
    return KeyOrder(tuple(KeyColumn(*row[:4]) for row in rows))


def cut_evenly(first: int, last: int, parts: int) -> Iterator[Key]:
    """The first values of keys at which the numbers between two are cut into as many parts."""
    step = max((last - first + 1) // parts, 1)
    return ((str(cut),) for cut in range(first + step - 1, min(first + step * (parts - 1), last), step))
