"""The formats of `mppdb_decoding`: what the document shows is read, and what is malformed names its byte."""

from __future__ import annotations

import json
import struct

import pytest
from support import decoding
from support.decoding import Cell, Change, Transaction

from sluice.errors import SluiceError
from sluice.model.action import Action
from sluice.model.names import TableName
from sluice.vendors.gaussdb.capture.slot import records
from sluice.vendors.gaussdb.capture.slot.json_text import JsonDecoder
from sluice.vendors.gaussdb.capture.slot.records import Begin, Commit, Field, Form, Message
from sluice.vendors.gaussdb.capture.slot.text import TextDecoder

OLD = (Cell("id", "integer", "1"),)
NEW = (*OLD, Cell("é", "character varying", "it's\n'"), Cell("b", "bit varying", "01"), Cell("t", "boolean", "t"))
CHANGES = (
    Change("public", "t1", "INSERT", NEW, None),
    Change("public", "t1", "INSERT", tuple(Cell(cell.name, cell.type, None) for cell in NEW), None),
    Change("public", "t1", "UPDATE", NEW, OLD),
    Change("public", "t1", "DELETE", None, OLD),
)
# So often that each form is read by the parser and by what it learned.
OFTEN = 10
GIVEN = [Transaction(5 + number, 9, 77, 1 << 33, CHANGES * OFTEN) for number in range(2)]
SAYS = {
    "t": b"table public t1 INSERT: a[integer]:1 c[text]:'x'",
    "j": decoding.in_json(Change("public", "t1", "INSERT", OLD, None)),
}
BEAT = b"h" + struct.pack(">QQq", 1 << 63, 3, -4)


def refused(reader, message, why="is malformed at byte"):
    with pytest.raises(SluiceError) as error:
        reader.feed(message)
    assert (error.value.code, why in error.value.fact) == (420, True), error.value.fact
    return error.value


def within(format, statement=b"", batched=False):
    """A decoder that is within a transaction, which took the statement so often that it knows its form."""
    reader = decoding.decoder(format, batched)
    sent = decoding.statements(format, [Transaction(1, 2, 3, 4, ())])[:1]
    for message in decoding.messages(format, [*sent, *([(statement, 5)] * OFTEN if statement else [])], batched):
        reader.feed(message)
    return reader


def values(image):
    return image and [(cell.name, cell.value) for cell in image]


@pytest.mark.parametrize(
    ("format", "batched", "dotted"),
    [*((format, batched, False) for format in "tjb" for batched in (False, True)), ("t", False, True)],
)
def test_each_format_gives_the_same_changes(format, batched, dotted):
    sent = decoding.statements(format, GIVEN, dotted)
    found = decoding.decoded(format, batched, decoding.messages(format, sent, batched))
    expected = [change for one in GIVEN for change in one.changes]
    again = [change for one in decoding.understood(found) for change in one.changes]
    assert [(one.schema, one.table, one.action) for one in again] == [
        (one.schema, one.table, one.action) for one in expected
    ]
    for side in ("new", "old"):
        assert [values(getattr(one, side)) for one in again] == [values(getattr(one, side)) for one in expected]
    assert [mark.at for mark in found.marks] == [0, 40, 40, 80]
    assert {mark.xid for mark in found.marks if isinstance(mark, Commit)} == {5, 6}
    assert {mark.lsn for mark in found.marks if isinstance(mark, Begin)} == {77}
    lsns = [row["lsn"] for row in found.changes.to_pylist()]
    assert lsns[:40] == (list(range(78, 118)) if batched or format == "b" else [None] * 40)
    assert len(found.forms) == 3


def test_pieces_are_taken_within_a_transaction():
    reader = within("t", SAYS["t"])
    form = Form(TableName("public", "t1"), Action.INSERT, (Field("a", "integer"), Field("c", "text")))
    first = reader.taken()
    assert (first.forms, first.changes.num_rows, len(first.marks)) == ((form,), OFTEN, 1)
    reader.feed(SAYS["t"], 9)
    second = reader.taken()
    assert second.changes.to_pylist() == [{"lsn": 9, "form": 0, "action": "I", "new": ["1", "x"], "old": None}]
    assert reader.taken().changes.num_rows == 0
    with pytest.raises(SluiceError, match="SLC-420: the decoded stream is out of order: the stream ends within"):
        reader.records.expect_whole()


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("BEGIN", Begin(0)),
        ("BEGIN 700", Begin(0, 700)),
        ("BEGIN CSN: 2014 first_lsn: 0/2816A28", Begin(0, None, 2014, 0x2816A28)),
        ("BEGIN CSN: 1 commit_lsn: 6F/E3C53568", Begin(0, None, 1, 0x6F_E3C53568)),
        (
            "BEGIN CSN: 1 first_lsn: 0/1 xid: 7 commit_time: 2024-08-20 12:00:00.5+08 origin_id: 3 username: a b",
            Begin(0, 7, 1, 1, "2024-08-20 12:00:00.5+08", "a b", 3),
        ),
        ("BEGIN user: it's commit_time: x", Begin(0, user="it's commit_time: x")),
    ],
)
@pytest.mark.parametrize("format", ["t", "j"])
def test_each_begin_is_read(format, line, mark):
    reader = decoding.decoder(format, False)
    reader.feed(line.encode())
    assert reader.taken().marks == (mark,)


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("COMMIT", Commit(0)),
        ("commit", Commit(0)),
        ("COMMIT 700", Commit(0, 700)),
        ("COMMIT XID: 15504", Commit(0, 15504)),
        ("commit xid: 9 (at 2024-08-20 12:00:00+08)", Commit(0, 9, time="2024-08-20 12:00:00+08")),
        ("COMMIT 9 (at Tue Aug 20 12:00:00 2024 CST) CSN 5", Commit(0, 9, 5, time="Tue Aug 20 12:00:00 2024 CST")),
        ("COMMIT CSN 5", Commit(0, None, 5)),
    ],
)
@pytest.mark.parametrize("format", ["t", "j"])
def test_each_commit_is_read(format, line, mark):
    reader = within(format)
    reader.feed(line.encode())
    assert reader.taken().marks[1:] == (mark,)


def test_a_binary_begin_and_commit_have_optional_parts():
    sent = decoding.statements("b", [Transaction(5, 6, 7, 8, (), "a time", "a user")])
    more = b"B" + struct.pack(">QQ", 1, 2) + b"X" + struct.pack(">Q", 3) + b"O" + struct.pack(">I", 4)
    found = decoding.decoded("b", True, decoding.messages("b", [*sent, (more, 9), (b"C", 9)], True))
    assert found.marks == (
        Begin(0, None, 6, 7, "a time", "a user"),
        Commit(0, 5, None, 8, "a time"),
        Begin(0, 3, 1, 2, origin=4),
        Commit(0, lsn=9),
    )


@pytest.mark.parametrize(
    ("format", "batched", "end"),
    [("b", False, b"F"), ("t", False, b""), ("j", False, b""), ("t", True, bytes(4)), ("j", True, b"0")],
)
def test_heartbeats_are_passed_over_wherever_they_come(format, batched, end):
    reader = decoding.decoder(format, batched)
    reader.feed(BEAT + end)
    assert reader.taken().marks == ()
    for wrong in (BEAT[:-1], BEAT + b"x", BEAT + end + b"x", b"h"):
        if wrong != BEAT + end:
            refused(reader, wrong)


@pytest.mark.parametrize("decoder", [TextDecoder, JsonDecoder])
@pytest.mark.parametrize(
    "line",
    [
        'prefix: deparse, lsn: 0/2816A28, relid 0, cmdtype: Simple, size: 9, content: {"fmt":1}\ndecode to: TABLE t',
        "message: prefix deparse, relid 16384, cmdtype: Drop Table, sz: 3 content: \\x00",
        "decode to : CREATE TABLE public.t (id integer), [owner none]",
    ],
)
def test_a_message_about_ddl_is_passed_over(decoder, line):
    reader = decoder()
    for one in ("BEGIN CSN: 2014 first_lsn: 0/2816A28", line, "COMMIT XID: 15504"):
        reader.feed(one.encode())
    assert [type(one).__name__ for one in reader.taken().marks] == ["Begin", "Commit"]


def test_a_message_of_a_transaction_comes_within_it():
    reader = decoding.decoder("t", False)
    reader.feed("message: transactional: 0 prefix: a, b, sz: 2 content:é".encode())
    assert reader.taken().marks == (Message(0, False, "a, b", "é"),)
    refused(reader, b"message: transactional: 1 prefix: a, sz: 1 content:x", "is out of order")
    refused(reader, b"message: transactional: 0 prefix: a, sz: 3 content:x")


@pytest.mark.parametrize(
    ("statement", "offset"),
    [
        (b"table public t1 INSERT: a[integer]:1 c[text]:'x", 36),
        (b"table public t1 INSERT: a[integer]:1 c[text]:x", 36),
        (b"table public t1 INSERT: a[integer]:1  c[text]:'x'", 36),
        (b"table public t1 INSERT: a[integer]:1 a[integer]:2", 36),
        (b"table public t1 INSERT: a[integer]:1.2.3", 23),
        (b"table public t1 INSERT: a[integer:1", 23),
        ("table public ü INSERT: a[text]:'é'".encode() + b"\xff", 36),
        (b"table public t1 INSERT: a[text]:'\xc3'", 33),
        (b"table public t1 INSERT: a[text]:'\xc3", 33),
        (b"table public t1 INSERT: a[text]:'\0'", 33),
        (b"table public t1 UPDATE: old-key: a[integer]:1", 45),
        (b"table public t1 UPSERT: a[integer]:1", 6),
        (b"table public.t1: INSERT:a[integer]:1", 24),
        (b"table a b c INSERT: a[integer]:1", 6),
        (b"BEGIN CSN: x", 5),
        (b"COMMIT XID: 99999999999999999999", 0),
        (b"", 0),
        (b"DROP TABLE t1", 0),
    ],
)
def test_a_malformed_line_names_its_byte(statement, offset):
    for reader in (within("t"), within("t", SAYS["t"])):
        error = refused(reader, statement)
        assert f"in format t is malformed at byte {offset:,}:" in error.fact


def damaged(**parts):
    return json.dumps({**json.loads(SAYS["j"]), **parts}).encode()


@pytest.mark.parametrize(
    ("statement", "at"),
    [
        (SAYS["j"][:-1], b""),
        (SAYS["j"] + b" ", b""),
        (b"{}", b"{"),
        (b'{"a":' * 100_000, b""),
        (b'{"table_name": NaN}', b""),
        (damaged(op_type="UPSERT"), b'"UPSERT"'),
        (damaged(op_type=1), b"1"),
        (damaged(table_name="t1"), b'"t1"'),
        (damaged(columns_val=[]), b"[]"),
        (damaged(columns_val=[1]), b"[1]"),
        (damaged(columns_val=["'x"]), b'"\'x"'),
        (damaged(columns_val=["\ud800"]), b'"\\ud800"'),
        (damaged(columns_name=["a b"]), b'"a b"'),
        (damaged(op_type="DELETE"), b'["id"]'),
        (SAYS["j"].replace(b'"op_type"', b'"op_type": "DELETE", "op_type"'), b"{"),
        (SAYS["j"].replace(b'"1"', b'"\xff"'), b"\xff"),
    ],
)
def test_a_malformed_object_names_its_byte(statement, at):
    error = refused(within("j"), statement)
    assert "in format j is malformed at byte" in error.fact
    if at:
        number = int(error.fact.split(" at byte ")[1].split(":")[0].replace(",", ""))
        assert statement[number:].lstrip().startswith(at)


def in_b(body, most=0):
    return struct.pack(">IQ", (most or len(body)) + 8, 1) + body + b"F"


GOOD = decoding.in_binary(CHANGES[0])


@pytest.mark.parametrize(
    ("message", "offset"),
    [
        (b"", 0),
        (b"\0\0\0", 0),
        (in_b(GOOD)[:-1], 0),
        (in_b(GOOD, 1 << 30), 0),
        (in_b(GOOD)[:-1] + b"X", 12 + len(GOOD)),
        (in_b(GOOD)[:-1] + b"P", 13 + len(GOOD)),
        (in_b(GOOD) + b"x", 13 + len(GOOD)),
        (in_b(b"X"), 12),
        (in_b(b"B" + bytes(15)), 21),
        (in_b(b"C" + bytes(1)), 13),
        (in_b(GOOD + b"N\0\0"), 12 + len(GOOD)),
        (in_b(GOOD + b"Z"), 12 + len(GOOD)),
        (in_b(GOOD[:-1]), 11 + len(GOOD)),
        (in_b(GOOD[:-1] + b"\xff"), 11 + len(GOOD)),
        (in_b(GOOD[:-1] + b"\0"), 11 + len(GOOD)),
        (in_b(b"I\0\0"), 13),
        (in_b(b"D" + GOOD[1:]), 12 + GOOD.index(b"N")),
    ],
)
def test_malformed_bytes_name_their_place(message, offset):
    for reader in (within("b"), within("b", GOOD)):
        error = refused(reader, message)
        assert f"in format b is malformed at byte {offset:,}:" in error.fact


@pytest.mark.parametrize("format", ["t", "j", "b"])
def test_no_part_of_a_batch_passes_for_a_whole_one(format):
    sent = decoding.statements(format, [Transaction(5, 6, 7, 8, CHANGES)])
    (whole,) = decoding.messages(format, sent, True)
    for size in range(len(whole)):
        refused(decoding.decoder(format, True), whole[:size])


@pytest.mark.parametrize("format", ["t", "j", "b"])
def test_what_is_out_of_order_is_refused(format):
    given = Transaction(5, 6, 7, 8, CHANGES[:1])
    begin, change, commit = decoding.messages(format, decoding.statements(format, [given]), False)
    for order in ([change], [commit], [begin, begin], [begin, commit, commit], [begin, change, commit, change]):
        reader = decoding.decoder(format, False)
        for message in order[:-1]:
            reader.feed(message)
        refused(reader, order[-1], "is out of order")


def test_what_is_kept_at_once_has_a_limit(monkeypatch):
    monkeypatch.setattr(records, "MOST_BYTES", 1000)
    reader = within("t", SAYS["t"])
    refused(reader, SAYS["t"][:-2] + b"x" * 1000 + b"'", "to be kept at once")
    with pytest.raises(SluiceError, match="SLC-420: the decoded stream is out of order: it goes on after a message"):
        reader.taken()
    reader.records.forget()
    reader.feed(b"BEGIN")
    for _ in range(1_990 // len(SAYS["t"])):
        reader.feed(SAYS["t"])
    refused(reader, SAYS["t"], "to be kept at once")


@pytest.mark.parametrize("decoder", [TextDecoder, JsonDecoder])
@pytest.mark.parametrize(
    ("prefix", "content"), [(b"a, sz: 3 content:b", b"xy"), (b"", b"\0\xff\n"), (b"it's\n\"", b""), (b"\xc3", b"\xa4")]
)
def test_a_logical_message_of_any_bytes_stops_nothing(decoder, prefix, content):
    reader = decoder()
    head = b"message: transactional: 0 prefix: " + prefix
    reader.feed(head + f", sz: {len(content)} content:".encode() + content)
    assert len(reader.taken().marks) == 1
