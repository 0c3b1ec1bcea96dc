"""Rules of a repair in both directions: which side's row wins, and which rows a rule does not decide on."""

from __future__ import annotations

import pytest

from sluice.apply.mapping.table_view import view
from sluice.config.slave import Slave
from sluice.errors import SluiceError, TransientError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.row_difference import KINDS, without_keys
from sluice.repair.rule_choice import choose
from sluice.repair.rules import Conflict
from sluice.repair.run import RepairRequest

TYPES = {
    "id": "integer",
    'the "n"': "bigint",
    "price": "numeric(20,10)",
    "share": "double precision",
    "day": "date",
    "local": "timestamp(3) without time zone",
    "at": "timestamp with time zone",
    "note": "text",
    "open": "boolean",
    "who": "uuid",
    "clock": "time without time zone",
    "mood": "shop.mood",
    "twice": "bigint",
}
COLUMNS = tuple(Column(name, type_, generated=name == "twice") for name, type_ in TYPES.items())
LAYOUT = Layout(7, TableName("shop", "t"), COLUMNS, (0,))


def rule(name, column=None, kinds=KINDS, **entry):
    there = view(Slave(connection="x", tables={"shop.t": entry}).mapper, LAYOUT)
    return choose(name, column).rule(there, kinds)


def conflict(column, ours, theirs, key="1"):
    return Conflict((key,), *(None if value == () else {"id": key, column: value} for value in (ours, theirs)))


GONE = ()
LATER = {
    'the "n"': ("9", "10"),
    "price": ("99.5", "100.0000000001"),
    "share": ("1e+100", "NaN"),
    "day": ("9999-12-31", "10000-01-01"),
    "local": ("0044-03-15 00:00:00 BC", "2024-01-01 00:00:00.001"),
    "at": ("2024-01-01 12:00:00.5+00", "infinity"),
}


@pytest.mark.parametrize("column", LATER)
def test_newest_compares_values_and_not_texts_and_leaves_what_it_cannot_tell(column):
    early, late = LATER[column]
    pairs = [(early, late), (late, early), (late, late), (None, late), (late, None), (GONE, late), (early, GONE)]
    found = rule("newest", column).winners([conflict(column, *pair, str(key)) for key, pair in enumerate(pairs)])
    assert found == ["slave", "source", *["undecided"] * 5]


REFUSED = ["note", "open", "who", "clock", "mood", "none", "twice", "at"]


@pytest.mark.parametrize("column", REFUSED)
def test_newest_refuses_a_column_without_an_order_that_both_sides_have(column):
    with pytest.raises(SluiceError, match=rf"SLC-627: .*\b{column}\b"):
        rule("newest", column, exclude_columns=["at"])


def test_newest_has_a_column_and_no_other_rule_has_one():
    for named, column, why in (
        ("newest", None, "no column is named"),
        ("newest", "", "no column is named"),
        ("slave", "at", "the rule is slave, which has none"),
        (None, "at", "the rule is source, which has none"),
    ):
        with pytest.raises(SluiceError, match=f"SLC-627: .*{why}"):
            choose(named, column)
    assert [str(choose("newest", "a\nb")), str(choose(None, None))] == ["rule newest by a\n  b", "rule source"]


def test_what_is_to_be_typed_again_has_the_same_rule_kinds_and_tables():
    """By another rule it would undo what this one left."""
    some = RepairRequest("east", "west", (LAYOUT.name,), 7, ("changed",), rule=choose("newest", "changed at"))
    like = " repair east west --table shop.t --kind changed --rule newest --column 'changed at'"
    assert some.command.endswith(like)
    assert RepairRequest("east", "west").command.endswith(" repair east west")


def the_larger_team(layout):
    """What is there alone, is newer; of two rows that of the longer note."""

    def winner(kind, ours, theirs):
        if kind == "missing":
            return "source" if theirs is None else "?"
        if kind == "extra":
            return "slave" if ours is None else "?"
        if ours["note"] == "wrong":
            raise LookupError("no such team")
        if len(ours["note"]) == len(theirs.pop("note")):
            return "leave"
        return "source"

    assert [column.name for column in layout.columns][:2] == ["id", 'the "n"']
    return winner


def nonsense(layout):
    return lambda kind, ours, theirs: ours["answer"]


def busy(layout):
    def winner(kind, ours, theirs):
        raise TransientError(2, "busy", "")

    return winner


def unusable(layout):
    return 7


HERE = "test_repair_rules"


def test_a_plugin_is_asked_about_rows_of_the_three_kinds():
    pairs = (("a", GONE), (GONE, "b"), ("abc", "c"))
    rows = [conflict("note", *pair, str(key)) for key, pair in enumerate(pairs)]
    same = conflict("note", "x", "y", "9")
    asked = rule("plugin", repair_rule=f"{HERE}:the_larger_team")
    assert asked.winners([*rows, same]) == ["source", "slave", "source", "leave"]
    assert same.theirs == {"id": "9", "note": "y"}
    with pytest.raises(TransientError):
        rule("plugin", repair_rule=f"{HERE}:busy").winners(rows)


@pytest.mark.parametrize("answer", [None, True, "both", "undecided", ["source"]])
def test_what_a_plugin_does_wrong_names_the_row_to_those_who_may_see_keys(answer):
    with pytest.raises(SluiceError, match=r"SLC-603: .*none of source, slave, leave") as refused:
        rule("plugin", repair_rule=f"{HERE}:nonsense").winners([conflict("answer", answer, GONE, "the\nsecret")])
    assert "the secret" in str(refused.value)
    assert "secret" not in without_keys(str(refused.value))
    rows = [conflict("note", "a", GONE), conflict("note", "wrong", "b", "second")]
    with pytest.raises(SluiceError, match=r"shop\.t that is changed: LookupError: no such team; first keys: second"):
        rule("plugin", repair_rule=f"{HERE}:the_larger_team").winners(rows)


@pytest.mark.parametrize("named", [None, f"{HERE}:unusable", f"{HERE}:none", "no entry point"])
def test_a_plugin_that_is_not_there_is_refused(named):
    with pytest.raises(SluiceError, match=r"SLC-627: .*shop\.t"):
        rule("plugin", repair_rule=named)


def test_rows_of_other_kinds_are_left_and_no_rule_is_asked_about_them():
    rows = [conflict("at", "2024-01-01 00:00:00+00", other, str(n)) for n, other in enumerate((GONE, "infinity"))]
    assert rule("newest", "at", kinds=("changed",)).winners(rows) == ["leave", "slave"]
    assert rule("slave", kinds=("missing",)).winners(rows) == ["slave", "leave"]
