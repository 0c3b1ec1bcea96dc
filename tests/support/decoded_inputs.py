"""Nearly right messages of `mppdb_decoding`, and the function that takes them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from support import decoding
from support.decoding import Cell, Change, Transaction
from support.fuzzing import Entrance, octets

from sluice.errors import SluiceError

_OLD = (Cell("id", "integer", "-12"),)
_NEW = (
    *_OLD,
    Cell("select", "character varying", "it's é\n\\ null"),
    Cell("b", "bit varying", "01"),
    Cell("truth", "boolean", "t"),
    Cell("n", "numeric", "-1.5e+22"),
    Cell("a]:", 'odd."T y[]"[]', '{"x,y",NULL}'),
)
_CHANGES = (
    Change("public", "t1", "INSERT", _NEW, None),
    Change("public", "t1", "UPDATE", _NEW, _OLD),
    Change("Ödd", "T1", "DELETE", None, _OLD),
    Change("public", "none", "DELETE", None, None),
)
_GIVEN = [Transaction(5, 6, 7, 1 << 33, _CHANGES * 2, "2026-01-02 03:04:05.6+00", "a user")]
_WORDS = (
    b"message: transactional: 1 prefix: a, sz: 2 content:xy",
    b"h" + bytes(24),
    b"table a.b, a.c: TRUNCATE: cascade",
)
_SENT = {
    (format, batched): [
        message
        for dotted in (False, True)
        for message in decoding.messages(format, decoding.statements(format, _GIVEN, dotted), batched, 400)
    ]
    for format in "tjb"
    for batched in (False, True)
}


def _made(format: str, batched: bool) -> Callable[[Random], list[bytes]]:
    sent = _SENT[format, batched]

    def made(rng: Random) -> list[bytes]:
        damaged = rng.choice((*sent, *_WORDS))
        return [octets(rng, damaged), octets(rng, rng.choice(sent))]

    return made


def _taken(format: str, batched: bool) -> Callable[[list[bytes]], None]:
    begin, *known, _ = decoding.statements(format, _GIVEN)

    def outcome(learned: bool, message: bytes) -> object:
        """What a decoder makes of a message within a transaction, after it has learned the forms or not."""
        reader = decoding.decoder(format, batched)
        for one in decoding.messages(format, [begin, *(known if learned else ())], batched):
            reader.feed(one)
        if learned:
            reader.taken()
        try:
            reader.feed(message)
        except SluiceError as error:
            return str(error).replace(" 8 changes", " 0 changes")
        found = reader.taken()
        found.changes.validate(full=True)
        marks = found.marks if learned else found.marks[1:]
        rows = [(found.forms[row["form"]], row["lsn"], row["new"], row["old"]) for row in found.changes.to_pylist()]
        assert all(form.new is None or len(form.new) == len(new) for form, _, new, _ in rows)
        return marks, rows

    def taken(messages: list[bytes]) -> None:
        for message in messages:
            assert outcome(True, message) == outcome(False, message)

    return taken


ENTRANCES = tuple(
    Entrance(f"decoded {format}{' in batches' if batched else ''}", _made(format, batched), _taken(format, batched))
    for format, batched in _SENT
)
