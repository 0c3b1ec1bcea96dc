"""DDL of an Oracle master: what its triggers note is sent as it was, or its table is LOST."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.oracle_session import ID, NAME, PARTS, TABLE, TEXT, catalog_of, layouts, note, refusal, registered, source

from sluice.errors import AlteredMeanwhile
from sluice.model.names import TableName
from sluice.model.table_definition import TableChange
from sluice.vendors.oracle.capture.commands import NotCarried, altered, only_drops, plain
from sluice.vendors.oracle.capture.queue.changes import Changes, Item
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.noted import noted
from sluice.vendors.oracle.catalog.recorded import RecordedTable
from sluice.vendors.oracle.names import composed

# No LONG and no added column is read.
READERS = (lambda *_: None, lambda *_: None)
DAY = OracleColumn("D", "DATE", length=7)
PRICE = OracleColumn("P", "NUMBER", precision=6, scale=2, default="1.5")
CODE = OracleColumn("C", "CHAR", length=3, chars=3)


def with_columns(*columns, key=("ID",)):
    return CapturedTable(NAME, 7, columns, key)


def sent(before, after, statement=None):
    """The columns behind a command: number, name, type, value of rows that are there."""
    change = TableChange.from_json(altered(before, after, statement))
    assert [one.number for one in change.before.columns] == list(range(1, len(before.columns) + 1))
    return [(one.number, one.name, one.type, one.filled) for one in change.after.columns]


def test_a_note_is_read_as_it_was_written():
    odd = replace(TEXT, name='a<b & "q"'.replace('"', "'"), default="'it''s \"so\"'")
    table = with_columns(ID, odd, replace(DAY, hidden=True), key=("ID", odd.name))
    assert noted(7, note(table)) == table
    virtual = replace(DAY, name="V", virtual=True, default="SYSDATE")
    assert noted(7, note(with_columns(ID, virtual))) == with_columns(ID)
    hidden = note(with_columns(key=()))
    for text in ("", '<col name="ID">22</col>', note(table).replace("&quot;schema", "schema"), hidden):
        with pytest.raises(ValueError, match=r"it lacks|fields|it has no columns"):
            noted(7, text)


@pytest.mark.parametrize(
    ("after", "statement", "found"),
    [
        (
            [ID, TEXT, DAY],
            None,
            [(1, "ID", "integer", None), (2, "V", "character varying(9)", None), (5, "D", 0, None)],
        ),
        ([ID, TEXT, PRICE], None, [(5, "P", "numeric(6,2)", "1.50")]),
        ([ID, TEXT, replace(PRICE, scale=0, precision=4, default="70e-1")], None, [(5, "P", "smallint", "7")]),
        ([ID, TEXT, replace(TEXT, name="W", default="'it''s'")], None, [(5, "W", "character varying(9)", "it's")]),
        ([ID, TEXT, replace(DAY, default="date '2024-02-29'")], None, [(5, "D", 0, "2024-02-29 00:00:00")]),
        ([ID, TEXT, replace(DAY, default="Null")], None, [(5, "D", 0, None)]),
        ([ID], None, [(1, "ID", "integer", None)]),
        (
            [ID, replace(TEXT, name="W")],
            "ALTER TABLE t RENAME  column v TO w",
            [(2, "W", "character varying(9)", None)],
        ),
        ([ID, replace(TEXT, length=20, chars=20)], None, [(2, "V", "character varying(20)", None)]),
        ([replace(ID, precision=18), TEXT], None, [(1, "ID", "bigint", None), (2, "V", "character varying(9)", None)]),
        ([ID, replace(TEXT, not_null=True)], None, [(2, "V", "character varying(9)", None)]),
    ],
)
def test_a_command_is_known_by_the_columns_in_front_of_it_and_behind_it(after, statement, found):
    found = [(*one[:2], one[2] or "timestamp without time zone", one[3]) for one in found]
    assert sent(TABLE, with_columns(*after), statement)[-len(found) :] == found


@pytest.mark.parametrize(
    ("before", "after", "statement"),
    [
        ([ID, TEXT], [ID, TEXT, replace(DAY, default="SYSDATE")], None),
        ([ID, TEXT], [ID, TEXT, replace(DAY, default="'2024-02-29'")], None),
        ([ID, TEXT], [ID, TEXT, replace(PRICE, default="1.005")], None),
        ([ID, TEXT], [ID, TEXT, replace(PRICE, scale=0, default="1.5")], None),
        ([ID, TEXT], [ID, TEXT, replace(PRICE, scale=-2, default="150")], None),
        # The server keeps so many digits of base 2, or 38 of base 10.
        ([ID, TEXT], [ID, TEXT, OracleColumn("F", "FLOAT", precision=10, default="1.2345")], None),
        ([ID, TEXT], [ID, TEXT, OracleColumn("N", "NUMBER", default="0." + "7" * 39)], None),
        ([ID, TEXT], [ID, TEXT, replace(TEXT, name="W", default="'" + "x" * 2000)], None),
        ([ID, TEXT], [ID, replace(TEXT, name="W")], "ALTER TABLE t ADD w VARCHAR2(9)"),
        ([ID, TEXT], [ID, replace(TEXT, name="W")], None),
        ([ID, TEXT], [ID, replace(TEXT, name="W", length=20)], "ALTER TABLE t RENAME COLUMN v TO w"),
        ([ID, CODE], [ID, replace(CODE, length=5, chars=5)], None),
        ([ID, DAY], [ID, replace(DAY, type="TIMESTAMP(6) WITH LOCAL TIME ZONE")], None),
        ([ID, PRICE], [ID, replace(PRICE, precision=None, scale=None)], None),
    ],
)
def test_a_command_is_not_sent_if_values_behind_it_are_not_known(before, after, statement):
    with pytest.raises(NotCarried):
        altered(with_columns(*before), with_columns(*after), statement)


def test_columns_that_went_are_told_from_all_else():
    assert only_drops(TABLE, with_columns(ID))
    assert not only_drops(TABLE, TABLE)
    assert not only_drops(replace(TABLE, key=()), with_columns(key=()))
    assert not only_drops(TABLE, with_columns(ID, DAY))
    assert not only_drops(TABLE, with_columns(replace(ID, not_null=False)))


WIDE, NARROW = with_columns(ID, TEXT, PRICE), with_columns(ID, PRICE)
# Two commands of one table, which wait for the publisher together.
NOTES = [(55, 7, note(WIDE), "ALTER TABLE t ADD p"), (58, 7, note(NARROW), "ALTER TABLE t DROP COLUMN v")]


def commands(changes):
    batch, _ = changes
    texts = [(row["action"], row["repl_key"], row["layout"], row["new"][0]) for row in batch.to_pylist()]
    return [(action, key, layout, json.loads(text)) for action, key, layout, text in texts]


def test_each_of_two_commands_is_recorded_and_sent_as_it_was(monkeypatch):
    answers = catalog_of(NARROW) | {"capture__registry__registered": registered(plain(NARROW), 58)}
    # The trigger is that of the columns in front of both.
    answers["capture__registry__registered"] = [(*row[:-1], 40) for row in answers["capture__registry__registered"]]
    answers |= {"capture__queue__noted": [(55,), (58,)], "capture__queue__definitions": NOTES}
    answers |= {"capture__registry__layouts": layouts((40, TABLE)), "capture__registry__image_used": [(0,)]}
    session, capture, _ = source(monkeypatch, **answers)
    capture.poll_ddl()
    recorded = [given["layout"] for given in session.given if given and "layout" in given and "columns" in given]
    assert recorded == [55, 58]
    assert any('TRIGGER "REPL"."REPL_CAP7"' in one for one in session.said)
    known = {7: [RecordedTable(40, TABLE), RecordedTable(55, plain(WIDE)), RecordedTable(58, plain(NARROW))]}
    changes = Changes(900, known, *READERS, {55, 58}, bool, int, PARTS["items"])
    items = [Item(58, "1.2.3", key, 7, "ALTER", None, text, said) for key, _, text, said in NOTES]
    (first, second) = commands(changes.batch(items))
    assert first[:3] == ("A", 55, 55)
    assert [one.get("filled") for one in first[3]["after"]["columns"]] == [None, None, "1.50"]
    assert second[:3] == ("A", 58, 58)
    assert [one["name"] for one in second[3]["before"]["columns"]] == ["ID", "V", "P"]
    assert [(one["number"], one["name"]) for one in second[3]["after"]["columns"]] == [(1, "ID"), (3, "P")]


def test_a_table_whose_rows_are_not_known_behind_a_command_is_lost(monkeypatch):
    computed = with_columns(ID, TEXT, replace(DAY, default="SYSDATE"))
    answers = catalog_of(computed) | {"capture__registry__registered": registered(plain(computed))}
    answers |= {"capture__queue__noted": [(55,)], "capture__queue__definitions": [(55, 7, note(computed), None)]}
    session, capture, _ = source(monkeypatch, **answers, capture__registry__layouts=layouts((40, TABLE)))
    capture.poll_ddl()
    assert any(one.startswith(f"UPDATE {PARTS['tables']} SET lost = 'Y'") for one in session.said)
    known = {7: [RecordedTable(40, TABLE), RecordedTable(55, plain(computed))]}
    changes = Changes(900, known, *READERS, {55}, bool, int, PARTS["items"])
    assert commands(changes.batch([Item(55, "1.2.3", 55, 7, "ALTER", None, note(computed), None)])) == []


@pytest.mark.parametrize(("is_gone", "count"), [(True, 1), (False, 0)])
def test_a_drop_is_sent_once_its_table_is_gone(is_gone, count):
    changes = Changes(900, {7: [RecordedTable(40, TABLE)]}, *READERS, (), lambda _: is_gone, int, PARTS["items"])
    found = commands(changes.batch([Item(61, "1.2.3", 61, 7, "DROP", None, note(TABLE), "DROP TABLE")]))
    assert [(action, key, list(text)) for action, key, _, text in found] == [("X", 61, ["before"])] * count


def test_a_column_that_went_unnoted_is_noted_by_the_publisher_and_once(monkeypatch):
    answers = catalog_of(with_columns(ID)) | {"capture__registry__registered": registered(TABLE)}
    answers |= {"capture__registry__image_used": [(0,)], "capture__registry__altered_at": [(None,)]}
    answers |= {"capture__registry__next_key": [(70,)], "capture__queue__noted": iter_of([], [(69,)], [(69,)])}
    session, capture, _ = source(monkeypatch, **answers)
    capture.poll_ddl()
    assert sum("REPL_DEFINITION" in one for one in session.said) == 1
    session, capture, _ = source(monkeypatch, **{**answers, "capture__registry__carries_ddl": [("N",)]})
    capture.poll_ddl()
    assert not any("REPL_DEFINITION" in one for one in session.said)
    # Somebody alters a table without end.
    answers["capture__queue__noted"] = iter_of(*([(key,)] for key in range(9)))
    session, capture, _ = source(monkeypatch, **answers)
    with pytest.raises(AlteredMeanwhile):
        capture.poll_ddl()


def iter_of(*rows):
    left = list(rows)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def test_a_note_that_nobody_looked_at_is_no_earlier_one():
    """Keys of two tables are not committed in their order."""
    changes = Changes(900, {7: [RecordedTable(40, TABLE)]}, *READERS, {60}, bool, int, PARTS["items"])
    with pytest.raises(AlteredMeanwhile):
        changes.batch([Item(55, "1.2.3", 55, 7, "ALTER", None, note(WIDE), None)])


IMAGE = '<col name="ID">1</col><col name="V">a</col>'


@pytest.mark.parametrize(
    ("rows", "new", "layout", "lost"),
    [
        ([("2.5",)], ["1", "a", "2.50"], 55, False),
        ([(None,)], ["1", "a", None], 55, False),
        # Its DELETE follows.
        ([], ["1", "a"], 40, False),
        (refusal("ORA-00904: invalid identifier"), ["1", "a"], 40, True),
    ],
    ids=["value", "NULL", "row gone", "column gone"],
)
def test_a_row_that_the_older_trigger_wrote_gets_the_value_that_it_has_in_an_added_column(
    monkeypatch, rows, new, layout, lost
):
    item = (60, "1.2.3", 60, 7, "UPDATE", None, IMAGE, IMAGE)
    read = composed("read/rows", columns=f'{VALUE} AS "C0"', table='"APP"."T"', within='AND source."ID" = :key0')
    answers = {"capture/queue/sweep": [item], "capture/registry/layouts": layouts((40, TABLE), (55, plain(WIDE)))}
    session, capture, _ = source(monkeypatch, **answers)
    session.answers[read] = rows
    with capture.sweep(3, None) as sweep:
        ((row,),) = [batch.to_pylist() for batch in sweep.batches()]
    assert (row["new"], row["layout"]) == (new, layout)
    assert row["old"] == [*new[:2], *[None] * (len(new) - 2)]
    assert session.values_of(read) == [{"scn": 900, "key0": 1}]
    assert any("SET lost = 'Y'" in one for one in session.said) == lost


def test_a_row_without_a_key_that_the_older_trigger_wrote_makes_its_table_lost(monkeypatch):
    bare = [replace(one, key=()) for one in (TABLE, plain(WIDE))]
    answers = {"capture/queue/sweep": [(60, "1.2.3", 60, 7, "INSERT", None, IMAGE, None)]}
    session, capture, _ = source(
        monkeypatch, **answers, capture__registry__layouts=layouts((40, bare[0]), (55, bare[1]))
    )
    with capture.sweep(3, None) as sweep:
        assert [batch["layout"].to_pylist() for batch in sweep.batches()] == [[40]]
    assert any("SET lost = 'Y'" in one for one in session.said)


VALUE = "TO_CHAR(source.\"P\", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')"


@pytest.mark.parametrize(
    ("wanted", "others", "sent_on"),
    [
        ([("APP", " ", "Y", "N")], [], True),
        ([("APP", "U", "N", "N")], [], True),
        ([("APP", "T", "N", "N")], [], False),
        ([("APP", " ", "Y", "N"), ("APP", "U", "N", "Y")], [], False),
        # Another watched table had the name.
        ([("APP", " ", "Y", "N")], [("APP", "U", *registered(TABLE)[0][2:8], 8, *registered(TABLE)[0][9:])], False),
    ],
    ids=["wildcard", "name", "not wanted", "excluded", "of another"],
)
def test_a_table_that_is_renamed_is_watched_on_if_the_configuration_wants_its_name(
    monkeypatch, wanted, others, sent_on
):
    now = replace(TABLE, name=TableName("APP", "U"))
    answers = catalog_of(TABLE) | {"capture__registry__registered": [*registered(TABLE), *others]}
    answers |= {"capture__registry__wanted": wanted, "capture__registry__image_used": [(0,)]}
    answers |= {"capture__registry__altered_at": [(None,)], "capture__registry__next_key": [(70,)]}
    answers |= {"capture__queue__noted": [(55,)], "capture__queue__definitions": [(55, 7, note(now), "RENAME t TO u")]}
    session, capture, _ = source(monkeypatch, **answers, capture__registry__layouts=layouts((40, TABLE)))
    capture.poll_ddl()
    renamed = [given for said, given in zip(session.said, session.given, strict=True) if said == RENAME]
    assert renamed == [{"schema": "APP", "name": "U", "relation": 7}] * sent_on
    known = {7: [RecordedTable(40, TABLE), *[RecordedTable(55, now)] * sent_on]}
    changes = Changes(900, known, *READERS, {55}, bool, int, PARTS["items"])
    found = commands(changes.batch([Item(55, "1.2.3", 55, 7, "ALTER", None, note(now), None)]))
    assert [text["after"]["table"] for _, _, _, text in found] == ["U"] * sent_on


RENAME = composed("capture/registry/rename", **PARTS)
