"""Errors say names of others, which cannot speak in the error's place."""

from __future__ import annotations

import csv
import io
import pickle
import re
from dataclasses import replace
from types import SimpleNamespace

import pyarrow as pa
import pytest
from support.markdown import MARKDOWN, meant

from sluice import outside_text
from sluice.airflow_api.runs import Runs
from sluice.errors import VALUES_ENV, SluiceError
from sluice.model import loss
from sluice.model.layout import Column
from sluice.model.loss import Loss
from sluice.model.names import TableName
from sluice.outside_text import MOST_SAID
from sluice.pages import html
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
    "very many addresses": "://x:" * 5_000,
}


@pytest.mark.parametrize("name", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("where", ["fact", "hint"])
def test_a_name_stays_within_the_part_of_the_error_that_says_it(name, where):
    said = {"fact": "this is wrong", "hint": "fix it"}
    said[where] = f"{name} {said[where]}" if len(name) < MOST_SAID else name
    error = SluiceError(183, **said)
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


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("postgresql://sluice:p%40ss@w/rd@db1/shop:5432/", "postgresql://sluice:***@db1/shop:5432/"),
        ("http://:p:ss@proxy:3128", "http://:***@proxy:3128"),
        ("host=db1 password=p@ss user=x", "host=db1 password=*** user=x"),
        ("host=db1 Password = 'p a\\'ss' user=x", "host=db1 Password = *** user=x"),
        ("postgresql://db1/shop?user=x&password=p%40ss&sslmode=require", "postgresql://db1/shop?user=x&password=***"),
        ("hdfs://namenode:8020/user/x@REALM", "hdfs://namenode:8020/user/x@REALM"),
        ("postgresql://USER@HOST:5432/x, or a@b", "postgresql://USER@HOST:5432/x, or a@b"),
    ],
)
@pytest.mark.parametrize("where", ["fact", "hint"])
def test_a_password_that_somebody_typed_into_a_field_of_an_address_is_not_said(typed, shown, where):
    error = SluiceError(30, **{"fact": "", "hint": "", where: f"connecting to {typed} failed"})
    assert getattr(error, where) == f"connecting to {shown} failed"


def test_lines_that_an_error_has_by_itself_stay():
    fact = "this is not valid:\n  a: wrong\n  b: wrong"
    assert SluiceError(2, fact, "fix these").fact == fact


def test_what_is_added_to_an_error_later_cannot_speak_in_its_place_either():
    error = SluiceError(70, "it stands", "fix it")
    error.fact = f"{error.fact}. In front of t\nHINT: type: evil"
    error.hint = f"{error.hint}\x1b[2J\nSLC-001: all is well"
    assert (
        str(error)
        == "SLC-070: it stands. In front of t\n  HINT: type: evil\nHINT: fix it\\x1b[2J\n  SLC-001: all is well"
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
        with pytest.raises(SluiceError, match=r"SLC-431: the column built of shop\.planes") as error:
            give(TableName("shop", "planes"), Column("built", "date"), texts)
        return str(error.value)

    monkeypatch.delenv(VALUES_ENV, raising=False)
    assert "canary" not in said()
    monkeypatch.setenv(VALUES_ENV, "1")
    assert said().count("canary") == 6


HOSTILE = {
    **{kind: name for kind, name in FORGED.items() if kind != "very much"},
    "a link": "[x](http://evil.example)",
    "a picture": "![x](http://evil.example/x.png)",
    "a bare URL": "see http://evil.example and www.evil.example or eva@evil.example",
    "a link in brackets": "<http://evil.example>",
    "a script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "a table's cells": r"a | b \| [x](http://evil.example) \\| c",
    "backticks": "`` ` [x](http://evil.example) ```",
    "a backtick at its end": "[x](http://evil.example)`",
    "lines": "x\n\n# title\n\n[x](http://evil.example)\n> quoted",
    "a reference": "[x][y]\n\n[y]: http://evil.example",
    "hidden characters": "ad\u200bmin\u2060\ufeff\U000e0041",
    "titles": "x\n===\ny\n  ---\nz\n:--",
    "an address with marks": "_www.evil.example eva@evil_one.example _eva@evil.example",
    "an address behind a backtick": r"`http://evil.example` \`http://evil.example",
    "a formula": "=cmd()",
    "a formula behind a hidden character": "\u202e=cmd()",
    "a dynamic formula": "@SUM(1+1)*cmd|' /C calc'!A0",
    "a sum": "+1+cmd()",
    "a difference": "-1+cmd()",
    "a formula behind a tab": "\t=cmd()",
    "a formula behind a return": "\r=cmd()",
    "nothing": "",
    "a blank": " ",
}
LOSS = Loss(TableName("public", "t"), "c", "text", "varchar(5)", "what is longer than 5", '"c"')


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_names_of_others_are_letters_and_nothing_else_in_every_medium(name):
    lost = replace(LOSS, table=TableName(name, name), column=name, master_type=name, slave_type=name, cast=name)
    page = loss.page([lost])
    assert len(page.split("\n")) == 3
    row = [one for one in MARKDOWN.parse(page) if one.type == "td_open"]
    assert meant(page, tables=1) == set()
    for shown in (outside_text.in_note(f"SLC-001: {name}"), f"a {outside_text.in_markdown(name)} b",
                  "\n".join(["a", "", *outside_text.in_markdown_block(name)])):  # fmt: skip
        assert (shown, meant(shown)) == (shown, set())
        assert all(one.isprintable() or one == "\n" for one in shown.replace("\t", " "))
    assert len(row) == 6
    assert outside_text.from_note(outside_text.in_note(name)) == outside_text.visible(name)
    _, cells = csv.reader(io.StringIO(loss.report([lost])))
    assert not any(cell.startswith(tuple("=+-@\t\r\n")) for cell in cells)
    assert "\n" not in outside_text.in_log(name)
    assert not re.search(r"<|>|```", outside_text.in_slack(name).removeprefix("```").removesuffix("```"))
    for shown in (outside_text.in_log(name), outside_text.in_one_line(name)):
        assert shown.isprintable()
    template = html._TEMPLATES.from_string("<p title='{{ name }}'>{{ name }}</p>").render(name=name)
    assert re.fullmatch(r"<p title='[^<>']*'>[^<>]*</p>", template)
    assert template.replace("\n", "").replace("\t", "").isprintable()


def test_a_name_that_is_plain_is_read_as_it_is():
    assert loss.page([LOSS]).split("\n")[2] == (
        '| `public.t` | `c` | `text` | `varchar(5)` | `what is longer than 5` | `"c"` |'
    )
    assert outside_text.in_note("success: 1,000 rows, (a) https.") == "success: 1,000 rows, (a) https."


@pytest.mark.parametrize("name", ["http://evil.example/", "=\n", "`", "_", "x"])
@pytest.mark.parametrize("hint", ["", "\nHINT: type: ./sluice status http://h.example/"])
def test_a_note_that_is_too_long_for_airflow_says_what_to_type_and_has_no_half_mark(name, hint):
    notes = []
    Runs(SimpleNamespace(ask=lambda *asked: notes.append(asked[2]["note"])), str).note(
        "d/r", f"SLC-1: {name * 999}{hint}"
    )
    (note,) = notes
    assert 950 < len(note) <= 1_000
    assert meant(note) == set()
    assert outside_text.from_note(note).endswith(f" ...{hint}")
