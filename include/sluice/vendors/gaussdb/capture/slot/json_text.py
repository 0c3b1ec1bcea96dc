"""Format `j`: a change is a JSON object whose values are strings that hold SQL literals."""

from __future__ import annotations

import json
import re
from typing import Any

from sluice.model.action import Action
from sluice.vendors.gaussdb.capture.slot.boundaries import boundary
from sluice.vendors.gaussdb.capture.slot.identifiers import IDENTIFIER, qualified, unquoted
from sluice.vendors.gaussdb.capture.slot.line_decoder import LineDecoder
from sluice.vendors.gaussdb.capture.slot.literals import UNCHANGED, is_literal
from sluice.vendors.gaussdb.capture.slot.malformed import excerpt, malformed
from sluice.vendors.gaussdb.capture.slot.records import Field, Form

_LISTS = ("columns_name", "columns_type", "columns_val", "old_keys_name", "old_keys_type", "old_keys_val")
_KEYS = {"table_name", "op_type", *_LISTS}
_ACTIONS = {"INSERT": Action.INSERT, "UPDATE": Action.UPDATE, "DELETE": Action.DELETE}
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
# Of all forms that are kept together.
_MOST_COLUMNS = 50_000
_is_name = re.compile(IDENTIFIER).fullmatch


def _no_constant(word: str) -> Any:
    raise ValueError(word)


# Pairs are left as they are, since a key that comes twice is an error.
_decoder = json.JSONDecoder(object_pairs_hook=list, parse_constant=_no_constant)


class JsonDecoder(LineDecoder):
    """Decodes messages of format `j`."""

    format = "j"

    def __init__(self, *, batched: bool = False) -> None:
        super().__init__(batched=batched)
        self._forms: dict[tuple[Any, ...], Form] = {}
        self._width = 0

    def _statement(self, text: str, lsn: int | None, offset: int) -> None:
        if text.startswith("{"):
            self._change(text, lsn, offset)
        elif not boundary("j", text, lsn, offset, self.records):
            raise malformed("j", offset, f"no kind of statement begins like this: {excerpt(text)}")

    def _change(self, text: str, lsn: int | None, offset: int) -> None:
        said = _object(text, offset)
        names, types, values, old_names, old_types, old_values = (said[key] for key in _LISTS)
        for place, value in enumerate(values):
            if not is_literal(value) and value != UNCHANGED:
                raise _wrong(text, "columns_val", place, offset)
        for place, value in enumerate(old_values):
            if not is_literal(value) and value != UNCHANGED:
                raise _wrong(text, "old_keys_val", place, offset)
        if UNCHANGED in values or UNCHANGED in old_values:
            unchanged = tuple(value == UNCHANGED for value in (*values, *old_values))
            row = [value for value in (*values, *old_values) if value != UNCHANGED]
        else:
            unchanged, row = (), [*values, *old_values]
        key = (said["table_name"], said["op_type"], *map(tuple, (names, types, old_names, old_types)), unchanged)
        if key not in self._forms:
            self._width += len(row) + 1
            if self._width > _MOST_COLUMNS:
                self._forms.clear()
                self._width = len(row) + 1
            self._forms[key] = _form(said, unchanged, text, offset)
        self.records.change(self._forms[key], row, lsn)


def _object(text: str, offset: int) -> dict[str, Any]:
    """The object, whose parts have the right kinds and lengths."""
    try:
        pairs, end = _decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        raise malformed("j", offset + _bytes(text, error.pos), f"no JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise malformed("j", offset, f"JSON that no change is written in: {error}") from None
    if end != len(text):
        raise malformed("j", offset + _bytes(text, end), "something follows the object")
    said = dict(pairs)
    if said.keys() != _KEYS or len(pairs) != len(_KEYS):
        raise malformed("j", offset, "the object has other keys than those of a change")
    for key in _LISTS:
        if not isinstance(said[key], list) or not all(type(one) is str for one in said[key]):
            raise _wrong(text, key, None, offset)
    for name, type_, value in (_LISTS[:3], _LISTS[3:]):
        if not len(said[name]) == len(said[type_]) == len(said[value]):
            raise _wrong(text, value, None, offset)
    if "\\u" in text:
        # An escape can write what no text of a server has.
        for key in _LISTS:
            for place, one in enumerate(said[key]):
                if "\0" in one or any("\ud800" <= sign <= "\udfff" for sign in one):
                    raise _wrong(text, key, place, offset)
    return said


def _form(said: dict[str, Any], unchanged: tuple[bool, ...], text: str, offset: int) -> Form:
    table = qualified(said["table_name"]) if isinstance(said["table_name"], str) else None
    if table is None:
        raise _wrong(text, "table_name", None, offset)
    action = _ACTIONS.get(said["op_type"]) if isinstance(said["op_type"], str) else None
    if action is None or (action == Action.INSERT and said["old_keys_name"]):
        raise _wrong(text, "op_type", None, offset)
    if action == Action.DELETE and said["columns_name"]:
        raise _wrong(text, "columns_name", None, offset)
    sides = [_fields(said, begin, text, offset) for begin in ("columns", "old_keys")]
    kept: list[tuple[Field, ...]] = []
    left: list[Field] = []
    flags = iter(unchanged)
    for fields in sides:
        out = [next(flags, False) for _ in fields]
        kept.append(tuple(field for field, is_out in zip(fields, out, strict=True) if not is_out))
        left += [field for field, is_out in zip(fields, out, strict=True) if is_out]
    # Nothing tells an image without columns from none.
    new, old = (fields if side else None for fields, side in zip(kept, sides, strict=True))
    return Form(table, action, new, old, tuple(left))


def _fields(said: dict[str, Any], begin: str, text: str, offset: int) -> list[Field]:
    fields: list[Field] = []
    for place, (name, type_) in enumerate(zip(said[f"{begin}_name"], said[f"{begin}_type"], strict=True)):
        if not _is_name(name) or any(unquoted(name) == field.name for field in fields):
            raise _wrong(text, f"{begin}_name", place, offset)
        fields.append(Field(unquoted(name), type_))
    return fields


def _wrong(text: str, key: str, place: int | None, offset: int) -> Exception:
    """The error about a part of an object, which names where that begins."""
    found = 0
    strings = _STRING.finditer(text)
    for one in strings:
        if one[0] == f'"{key}"':
            found = one.end() + 1
            break
    if place is not None:
        for _, one in zip(range(place + 1), strings, strict=False):
            found = one.start()
    where = key if place is None else f"number {place + 1} of {key}"
    return malformed("j", offset + _bytes(text, found), f"{where} is none of a change: {excerpt(text[found:])}")


def _bytes(text: str, place: int) -> int:
    return len(text[:place].encode())
