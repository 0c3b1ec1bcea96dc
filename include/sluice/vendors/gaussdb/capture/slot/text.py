"""Format `t`: a statement is a line such as `table public t1 INSERT: a[integer]:1 c[text]:'hello'`.

Of a form that comes often an expression is made that takes a whole statement at once. It takes nothing that the
parser would take otherwise, so the parser decides about all that is odd.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sluice.model.action import Action
from sluice.model.names import TableName
from sluice.vendors.gaussdb.capture.slot.boundaries import boundary
from sluice.vendors.gaussdb.capture.slot.identifiers import IDENTIFIER, qualified, unquoted
from sluice.vendors.gaussdb.capture.slot.known_forms import KnownForms
from sluice.vendors.gaussdb.capture.slot.line_decoder import LineDecoder
from sluice.vendors.gaussdb.capture.slot.literals import LITERAL, UNCHANGED
from sluice.vendors.gaussdb.capture.slot.malformed import excerpt, malformed
from sluice.vendors.gaussdb.capture.slot.records import Field, Form

# Serial decoding quotes the names of a table and puts a dot between them; parallel decoding does neither.
_UNQUOTED = r'(?>"(?:[^"]++|"")++"|[^\s"]\S*+)'
_ACTION = "INSERT|UPDATE|DELETE"
_HEAD = re.compile(
    rf"table (?:(?P<named>{IDENTIFIER}\.{IDENTIFIER}): (?P<action>{_ACTION}):"
    rf"|(?P<schema>{_UNQUOTED}) (?P<table>{_UNQUOTED}) (?P<raw>{_ACTION}):)"
)
_TRUNCATE = re.compile(
    rf"table (?P<tables>{IDENTIFIER}\.{IDENTIFIER}(?:, {IDENTIFIER}\.{IDENTIFIER})*+): TRUNCATE:"
    rf"(?P<clauses> \(no-flags\)|(?: restart_seqs)?+(?: cascade)?+)"
)
_NAME = re.compile(IDENTIFIER)
# Names of types have blanks, parentheses, dots and quoted names in them, and brackets in pairs.
_TYPE = r'(?>(?:[^\[\]":\n]++|"(?:[^"]++|"")*+"|\[\])++)'
_COLUMN = re.compile(rf" (?P<name>{IDENTIFIER})\[(?P<type>{_TYPE})\]:(?P<value>{LITERAL}|{UNCHANGED})(?= |\Z)")
_OLD, _NEW, _NOTHING = " old-key:", " new-tuple:", " (no-tuple-data)"


@dataclass(frozen=True)
class _Image:
    """Columns of a statement; `places` are the begin and the end of each value in its text."""

    fields: tuple[Field, ...] | None
    unchanged: tuple[Field, ...] = ()
    places: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class _Reader:
    """Takes statements of one form. The old image comes first in a statement, and last in a row."""

    form: Form
    pattern: re.Pattern[str]
    olds: int


class TextDecoder(LineDecoder):
    """Decodes messages of format `t`."""

    format = "t"

    def __init__(self, *, batched: bool = False) -> None:
        super().__init__(batched=batched)
        self._forms: KnownForms[_Reader] = KnownForms()

    def _statement(self, text: str, lsn: int | None, offset: int) -> None:
        beginning = text[: text.find("[")]
        readers = self._forms.at(beginning)
        for reader in readers:
            if found := reader.pattern.fullmatch(text):
                values = found.groups()
                if reader.olds:
                    values = (*values[reader.olds :], *values[: reader.olds])
                self.records.change(reader.form, values, lsn)
                return
        if text.startswith("table "):
            self._change(text, lsn, offset, beginning)
        elif not boundary("t", text, lsn, offset, self.records):
            raise malformed("t", offset, f"no kind of statement begins like this: {excerpt(text)}")

    def _change(self, text: str, lsn: int | None, offset: int, beginning: str) -> None:
        if not (head := _HEAD.match(text)):
            self._truncate(text, lsn, offset)
            return
        place = head.end()
        action = Action((head["action"] or head["raw"])[0])
        if head["named"]:
            table = qualified(head["named"])
            assert table is not None
        else:
            table = TableName(unquoted(head["schema"]), unquoted(head["table"]))
        new, old = _Image(None), _Image(None)
        if action == Action.DELETE:
            old, place = _image(text, place, offset)
        else:
            if action == Action.UPDATE and text.startswith(_OLD, place):
                old, place = _image(text, place + len(_OLD), offset)
                if not text.startswith(_NEW, place):
                    raise _misread(text, place, offset, "the new image does not begin here")
                place += len(_NEW)
            new, place = _image(text, place, offset)
        if place != len(text):
            raise _misread(text, place, offset, "no column begins or goes on like this")
        form = Form(table, action, new.fields, old.fields, (*new.unchanged, *old.unchanged))
        self.records.change(form, [text[begin:end] for begin, end in (*new.places, *old.places)], lsn)
        if form.width and self._forms.comes_often((form, beginning), form.width):
            pattern = _pattern(text, (*old.places, *new.places))
            self._forms.learn(beginning, _Reader(form, pattern, len(old.places) if new.places else 0), form.width)

    def _truncate(self, text: str, lsn: int | None, offset: int) -> None:
        if not (found := _TRUNCATE.fullmatch(text)):
            raise malformed("t", offset + 6, f"no name of a table and no action follow: {excerpt(text)}")
        clauses = tuple(word for word in found["clauses"].split() if word != "(no-flags)")
        for one in re.finditer(rf"{IDENTIFIER}\.{IDENTIFIER}", found["tables"]):
            table = qualified(one[0])
            assert table is not None
            self.records.change(Form(table, Action.TRUNCATE, clauses=clauses), (), lsn)


def _image(text: str, place: int, offset: int) -> tuple[_Image, int]:
    """The image that begins here, and where it ends."""
    if text.startswith(_NOTHING, place):
        return _Image(None), place + len(_NOTHING)
    fields: list[Field] = []
    places: list[tuple[int, int]] = []
    unchanged: list[Field] = []
    names: set[str] = set()
    while found := _COLUMN.match(text, place):
        field = Field(unquoted(found["name"]), found["type"])
        if field.name in names:
            raise _misread(text, place, offset, "a second column of this name")
        names.add(field.name)
        if found["value"] == UNCHANGED:
            unchanged.append(field)
        else:
            fields.append(field)
            places.append(found.span("value"))
        place = found.end()
    return _Image(tuple(fields), tuple(unchanged), tuple(places)), place


def _pattern(text: str, places: tuple[tuple[int, int], ...]) -> re.Pattern[str]:
    """The expression for statements that differ from this one in the values at these places."""
    parts, done = [], 0
    for begin, end in places:
        parts.append(re.escape(text[done:begin]))
        done = end
    return re.compile(f"({LITERAL})".join([*parts, re.escape(text[done:])]))


def _misread(text: str, place: int, offset: int, fact: str) -> Exception:
    return malformed("t", offset + len(text[:place].encode()), f"{fact}: {excerpt(text[place:])}")
