"""Errors say names of others, which cannot speak in the error's place."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from sluice.errors import MOST_SAID, VALUES_ENV, SluiceError
from sluice.model.layout import Column
from sluice.model.names import TableName
from sluice.vendors.mariadb import types as maria_types
from sluice.vendors.oracle import slave_columns
from sluice_airflow.child import Output

FORGED = {
    "another hint": "x\nHINT: type evil",
    "another error": "x\nSLC-000: all is well",
    "a result": 'x\n{"update": 1}',
    "a line that goes back": "x\rHINT: type evil",
    "another kind of line": "x\x85HINT: type evil\u2028HINT: more\x0bHINT: more",
    "a terminal's commands": "x\x1b[2J\x1b]0;evil\x07\x9b1m",
    "text from right to left": "x\u202elive",
    "no text": "x\udcff\x00",
    "very much": "x" * 10_000_000,
}


@pytest.mark.parametrize("name", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("where", ["fact", "hint"])
def test_a_name_stays_within_the_part_of_the_error_that_says_it(name, where):
    said = {"fact": "this is wrong", "hint": "mend it"}
    said[where] = f"{name} {said[where]}" if len(name) < MOST_SAID else name
    error = SluiceError(185, **said)
    text = str(error)
    assert [line[:5] for line in text.split("\n") if not line.startswith("  ")] == ["SLC-1", "HINT:"]
    assert text.replace("\n", "").isprintable()
    assert len(text) < MOST_SAID + 100
    output = Output()
    for line in text.split("\n"):
        output.take(line)
    assert (output.result, output.reason) == (None, text.partition("\n  ")[0] if where == "hint" else text)
    again = pickle.loads(pickle.dumps(error))
    assert (again.fact, again.hint, *again.args) == (error.fact, error.hint, error.fact)


def test_lines_that_an_error_has_by_itself_stay():
    fact = "this is not valid:\n  a: wrong\n  b: wrong"
    assert SluiceError(2, fact, "mend these").fact == fact


def test_what_is_added_to_an_error_later_cannot_speak_in_its_place_either():
    error = SluiceError(70, "it stands", "mend it")
    error.fact = f"{error.fact}. In front of t\nHINT: type: evil"
    error.hint = f"{error.hint}\x1b[2J\nSLC-001: all is well"
    assert (
        str(error)
        == "SLC-070: it stands. In front of t\n  HINT: type: evil\nHINT: mend it\\x1b[2J\n  SLC-001: all is well"
    )
    assert error.args == (error.fact,)


def to_oracle(table, column, texts):
    slave_columns.values_of(table, slave_columns.stored(column, key=False), texts)


def to_mariadb(table, column, texts):
    maria_types.literals(table, [maria_types.stored(column, key=False)], [texts])


@pytest.mark.parametrize("give", [to_oracle, to_mariadb])
def test_a_value_that_a_column_cannot_hold_is_said_only_on_request(monkeypatch, give):
    texts = pa.array(["canary" * 20], pa.string())

    def said() -> str:
        with pytest.raises(SluiceError, match=r"SLC-(431|516): the column built of shop\.planes") as error:
            give(TableName("shop", "planes"), Column("built", "date"), texts)
        return str(error.value)

    monkeypatch.delenv(VALUES_ENV, raising=False)
    assert "canary" not in said()
    monkeypatch.setenv(VALUES_ENV, "1")
    assert said().count("canary") == 6
