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


def _made(format: str) -> Callable[[Random], tuple[bool, bytes]]:
    def made(rng: Random) -> tuple[bool, bytes]:
        batched = rng.random() < 0.5
        return batched, octets(rng, rng.choice((*_SENT[format, batched], *_WORDS)))

    return made


def _taken(format: str) -> Callable[[tuple[bool, bytes]], None]:
    begin, *known, _ = decoding.statements(format, _GIVEN)
    # One decoder of each kind takes all inputs, and knows the forms; another one is made for each, and knows none.
    learned = {batched: decoding.decoder(format, batched) for batched in (False, True)}
    for batched, reader in learned.items():
        for message in decoding.messages(format, [begin, *known * 8], batched):
            reader.feed(message)

    def outcome(reader: decoding.Decoder, message: bytes) -> object:
        reader.records.forget()
        reader.records.in_transaction = True
        try:
            reader.feed(message)
        except SluiceError as error:
            return str(error)
        found = reader.taken()
        found.changes.validate(full=True)
        rows = [(found.forms[row["form"]], row["lsn"], row["new"], row["old"]) for row in found.changes.to_pylist()]
        assert all(form.new is None or len(form.new) == len(new) for form, _, new, _ in rows)
        return found.marks, rows

    def taken(given: tuple[bool, bytes]) -> None:
        batched, message = given
        assert outcome(learned[batched], message) == outcome(decoding.decoder(format, batched), message)

    return taken


ENTRANCES = tuple(Entrance(f"decoded {format}", _made(format), _taken(format)) for format in "tjb")
