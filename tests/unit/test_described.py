"""How changes become messages: which message they go into, and what it says of them."""

from __future__ import annotations

import json
from itertools import count

import pyarrow as pa
import pytest

from sluice.changelog.schema import LOGGED
from sluice.messages.formats import as_json_lines, as_xml
from sluice.messages.from_changes import Describing, Labels
from sluice.messages.message import Description, Row
from sluice.messages.xml_reader import read
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.statement import Statement

KEYS = count(1)
LAYOUT = Layout(1, TableName("public", "t"), (Column("id", "integer"), Column("raw", "bytea")), key=(0,))


def values(type_name):
    return bytes.fromhex if type_name == "bytea" else None


def change(ordinal, action, new=None, old=None, layout=1, **more):
    return {
        "ordinal": ordinal,
        "trans_key": str(700 + ordinal),
        "repl_key": next(KEYS),
        "layout": layout,
        "action": action,
        "new": new,
        "old": old,
        **more,
    }


def described(*changes, collected=0, on_create=250, size=1000):
    describing = Describing(Labels("src", "0.0", collected, on_create), lambda numbers: {1: LAYOUT}, values)
    batches = [pa.RecordBatch.from_pylist(list(changes[at : at + size]), LOGGED) for at in range(0, len(changes), size)]
    return list(describing.descriptions(batches))


def shape(parts):
    """Messages by the ordinals of their rows, or by their command."""
    found = []
    for part in parts:
        if isinstance(part, Description):
            found.append([] if part.command == "REPLICATION" else part.command)
        else:
            found[-1].append(int(part.attributes["ordinal"]))
    return found


def insert(ordinal, **more):
    return change(ordinal, "I", ["1", None], **more)


@pytest.mark.parametrize(
    ("collected", "expected"),
    [
        pytest.param(0, [[1, 1], [2], [3], [4, 4, 4], [5]], id="each its own"),
        pytest.param(1, [[1, 1], [2], [3], [4, 4, 4], [5]], id="one row is enough"),
        pytest.param(2, [[1, 1], [2, 3], [4, 4, 4], [5]], id="until there are two rows"),
        pytest.param(3, [[1, 1, 2], [3, 4, 4, 4], [5]], id="whole transactions, though there are more"),
        pytest.param(99, [[1, 1, 2, 3, 4, 4, 4, 5]], id="all"),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 1000])
def test_messages_hold_whole_transactions(collected, expected, size):
    changes = [insert(ordinal) for ordinal in (1, 1, 2, 3, 4, 4, 4, 5)]
    assert shape(described(*changes, collected=collected, size=size)) == expected


def test_a_command_is_a_message_of_its_own_between_those_of_the_rows_around_it():
    issued = Statement(1, "UPDATE t SET id = 2", "public", reads=False, max_rows=10)
    statement = change(1, "S", [issued.to_json()], layout=0)
    parts = described(insert(1), statement, insert(1), insert(2), collected=99)
    assert shape(parts) == [[1], "STATEMENT", [1, 2]]
    said = {name: parts[2].attributes[name] for name in ("statement", "statementId", "maxEntries", "schema")}
    assert list(said.values()) == ["UPDATE t SET id = 2", "1", "10", "public"]


@pytest.mark.parametrize("size", [1, 1000])
def test_what_a_new_table_holds_is_spread_over_messages(size):
    made = change(2, "N", [json.dumps({"after": table("t", column(1, "id", "integer"))})], layout=0)
    changes = [insert(1), insert(1), insert(1), made, *(insert(2) for _ in range(5)), insert(3), insert(3), insert(3)]
    parts = described(*changes, on_create=2, size=size)
    assert shape(parts) == [[1, 1, 1], "CREATE", [2, 2], [2, 2], [2], [3, 3, 3]]
    assert [part.ident for part in parts if isinstance(part, Description)] == ["701", *["702"] * 4, "703"]


def test_what_is_described_otherwise_is_not_collected():
    monday, tuesday = ([("day", day)] for day in ("monday", "tuesday"))
    parts = described(
        insert(1, description=monday), insert(2, description=monday), insert(3, description=tuesday), collected=99
    )
    assert shape(parts) == [[1, 2], [3]]
    assert [part.attributes for part in parts if isinstance(part, Description)] == [dict(monday), dict(tuesday)]


def test_marks_are_nobodys_message():
    assert shape(described(change(1, "C"), change(2, "C"), insert(2), change(2, "C"), change(3, "C"))) == [[2]]


def test_rows_say_what_happened_to_them():
    rows = described(
        insert(1, attributes=[("origin", "till")]),
        change(1, "U", ["2", "00ff"], ["1", None]),
        change(1, "D", None, ["2", "00ff"]),
        change(1, "T"),
    )[1:]
    assert [row.columns for row in rows] == [
        (("id", "1"), ("raw", None)),
        (("id", "2"), ("raw", b"\x00\xff")),
        (("id", "2"), ("raw", b"\x00\xff")),
        (),
    ]
    assert [row.old for row in rows] == [None, (("id", "1"), ("raw", None)), None, None]
    assert [row.attributes["action"] for row in rows] == ["INSERT", "UPDATE", "DELETE", "TRUNCATE"]
    assert {key: value for key, value in rows[0].attributes.items() if key != "replKey"} == {
        "schema": "public",
        "tableName": "t",
        "dbId": "src",
        "action": "INSERT",
        "version": "0.0",
        "transaction": "701",
        "ordinal": "1",
        "origin": "till",
    }


def table(name, *columns, key=()):
    return {"schema": "public", "table": name, "columns": list(columns), "key": list(key)}


def column(number, name, type_name, **more):
    return {"number": number, "name": name, "type": type_name, "not_null": False, **more}


def command(action, **payload):
    (part,) = described(change(1, action, [json.dumps(payload)]))
    return part


def test_a_create_describes_every_column():
    made = command(
        "N",
        after=table("t", column(1, "id", "integer", not_null=True), column(3, "n", "numeric(10,2)"), key=["id"]),
        statement="CREATE TABLE t ...",
    )
    assert (made.command, made.ident, made.attributes["tableName"]) == ("CREATE", "701", "t")
    first, second = (dict(one.attributes) for one in made.columns)
    assert (first["pos"], first["typeName"], first["nullable"], first["pk"]) == ("1", "integer", "0", "true")
    assert (second["pos"], second["number"], second["precision"], second["scale"]) == ("2", "3", "10", "2")


def test_an_alter_tells_a_rename_from_a_drop_and_an_add():
    altered = command(
        "A",
        before=table("t", column(1, "a", "text"), column(2, "b", "text")),
        after=table("u", column(1, "c", "text", default="'x'"), column(3, "b", "text")),
    )
    assert [(one.name, one.attributes.get("oldName")) for one in altered.columns] == [("c", "a"), ("b", None)]
    assert (altered.attributes["tableName"], altered.attributes["oldTableName"]) == ("u", "t")
    assert altered.columns[0].attributes["default"] == "'x'"


def test_a_drop_describes_what_was_there():
    dropped = command("X", before=table("t", column(1, "a", "text")))
    assert (dropped.command, dropped.attributes["tableName"], len(dropped.columns)) == ("DROP", "t", 1)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"after": 5}', '{"after": {"schema": "x"}}', "ALTER TABLE t"])
def test_a_command_that_describes_no_table_is_an_error(text):
    with pytest.raises(ValueError, match=r"description|Expecting"):
        described(change(1, "A", [text]))


PARTS = [
    Description(ident="701", attributes={"day": "monday"}),
    Row((("id", "5"), ("raw", b"\x00")), {"action": "UPDATE", "ordinal": "1"}, old=(("id", None),)),
    Description("STATEMENT", "701", attributes={"statement": "SELECT 1", "ordinal": "1"}),
    Description(ident="702"),
    Row((), {"action": "TRUNCATE", "ordinal": "2"}),
    Row((), {"action": "TRUNCATE", "ordinal": "2"}),
]


@pytest.mark.parametrize("parts", [[], PARTS[:2], PARTS], ids=["none", "one message", "several"])
def test_an_xml_document_gives_back_what_went_into_it(parts):
    document = "".join(as_xml(parts, {"source": "a & b"}))
    assert document.startswith("<?xml version='1.0' encoding='UTF-8' ?>\n<messages source='a &amp; b'>\n")
    assert list(read([document.encode()])) == parts


def test_rows_are_counted_within_their_message():
    document = "".join(as_xml(PARTS, {}))
    assert [line.split("'")[1] for line in document.splitlines() if "<row num=" in line] == ["0", "0", "1"]


def test_json_lines_have_one_change_each():
    lines = [json.loads(line) for line in as_json_lines(PARTS, {})]
    assert lines == [
        {
            "command": "REPLICATION",
            "action": "UPDATE",
            "ordinal": 1,
            "columns": {"id": "5", "raw": {"base64": "AA=="}},
            "old": {"id": None},
            "description": {"day": "monday"},
        },
        {"command": "STATEMENT", "statement": "SELECT 1", "ordinal": 1},
        {"command": "REPLICATION", "action": "TRUNCATE", "ordinal": 2, "columns": {}},
        {"command": "REPLICATION", "action": "TRUNCATE", "ordinal": 2, "columns": {}},
    ]
