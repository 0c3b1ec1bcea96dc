"""The options of decoding, one by one: their ranges, their defaults, and where they can be used."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

Value = bool | int | str | tuple[str, ...] | tuple[int, ...]

# Of a name, in bytes.
_LONGEST = 63
_MOST_INTEGER = 2**31 - 1
_MOST_OID = 2**32 - 1


class Way(Enum):
    """Where an option can be given."""

    EVERYWHERE = "by SQL functions and over the protocol"
    STREAM = "over the protocol"
    CLIENT = "in the client alone"


@dataclass(frozen=True)
class Option:
    """An option.

    Attributes:
        taken: makes its value of what a person wrote; raises ValueError with what would be right.
        default: the value that the server uses without it; None if that depends on the server.
        parallel: it has a meaning in parallel decoding alone, and serial decoding refuses it.
    """

    name: str
    taken: Callable[[object], Value]
    default: Value | None
    way: Way = Way.EVERYWHERE
    parallel: bool = False


def _truth(given: object) -> bool:
    if isinstance(given, bool):
        return given
    if type(given) is int and given in (0, 1):
        return bool(given)
    raise ValueError("true or false")


def _integer(least: int, most: int) -> Callable[[object], int]:
    def taken(given: object) -> int:
        if type(given) is not int or not least <= given <= most:
            raise ValueError(f"an integer from {least} to {most}")
        return given

    return taken


def _queue(given: object) -> int:
    if type(given) is not int or not 2 <= given <= 1024 or given & (given - 1):
        raise ValueError("a power of two from 2 to 1024")
    return given


def _style(given: object) -> str:
    if given not in ("t", "j", "b"):
        raise ValueError("t, j or b")
    return str(given)


def _list(given: object) -> list[object]:
    """A list, or a text with commas as the server takes it."""
    parts: list[object] = []
    if isinstance(given, str):
        parts += given.split(",")
    elif isinstance(given, list | tuple):
        parts += given
    if not parts or len(set(map(repr, parts))) != len(parts):
        raise ValueError("a list without repetitions that has at least one entry")
    return parts


def _users(given: object) -> tuple[str, ...]:
    names = _list(given)
    for name in names:
        # The server separates them by commas, and knows no quotes.
        if not isinstance(name, str) or not re.fullmatch(r"[^\s,\0](?:[^,\0\n]*[^\s,\0])?", name):
            raise ValueError("names of users that have no comma, and no blank at an end")
        if len(name.encode()) > _LONGEST:
            raise ValueError(f"names of users that have {_LONGEST} bytes at most")
    return tuple(map(str, names))


def _oids(given: object) -> tuple[int, ...]:
    whole = [int(one) if isinstance(one, str) and re.fullmatch(r" ?[0-9]{1,10}", one) else one for one in _list(given)]
    if not all(type(one) is int and 1 <= one <= _MOST_OID for one in whole) or len(set(whole)) != len(whole):
        raise ValueError("different OIDs of users")
    return tuple(one for one in whole if isinstance(one, int))


def _tables(given: object) -> tuple[str, ...]:
    names = _list(given)
    for name in names:
        # Nothing can be quoted there, so a name with one of these signs would stand for another table, or for none.
        if not isinstance(name, str) or not re.fullmatch(r"[^\s,.\"'\0]+\.[^\s,.\"'\0]+", name):
            raise ValueError("tables as SCHEMA.TABLE, * for any, without blanks, commas, dots and quotes within a name")
    return tuple(map(str, names))


OPTIONS = {
    option.name: option
    for option in (
        Option("include-xids", _truth, True),
        Option("include-timestamp", _truth, False),
        Option("include-user", _truth, False),
        Option("skip-empty-xacts", _truth, False),
        Option("white-table-list", _tables, None),
        Option("exclude-users", _users, None),
        Option("exclude-userids", _oids, None),
        Option("dynamic-resolution", _truth, True),
        # In parallel decoding what the server's memory allows is a further limit.
        Option("max-txn-in-memory", _integer(0, _MOST_INTEGER), None),
        Option("max-reorderbuffer-in-memory", _integer(0, _MOST_INTEGER), None),
        Option("parallel-decode-num", _integer(1, 20), 1, Way.STREAM),
        Option("decode-style", _style, "b", Way.STREAM, parallel=True),
        Option("sending-batch", _integer(0, 1), 0, Way.STREAM, parallel=True),
        Option("parallel-queue-size", _queue, 128, Way.STREAM, parallel=True),
        Option("standby-connection", _truth, False, Way.STREAM),
        Option("sender-timeout", _integer(0, _MOST_INTEGER), None, Way.STREAM),
        Option("enable-heartbeat", _truth, False, Way.STREAM),
        # How often the client says how far it is, in milliseconds.
        Option("status-interval", _integer(1, _MOST_INTEGER), 10_000, Way.CLIENT),
    )
}
