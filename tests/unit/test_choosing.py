"""A condition on changes, and a veto, say which of the changes that a slave sees it carries out."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest

from sluice import extensions
from sluice.apply.mapping.table_view import BoundView, mapped_and_filtered, view
from sluice.changelog.schema import CHANGES
from sluice.config.slave import Slave
from sluice.errors import ConfigError, SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

LAYOUT = Layout(
    7, TableName("public", "t"), (Column("id", "integer"), Column("n", "integer"), Column("x", "text")), (0,)
)
LOW, HIGH, NONE = ["1", "3", "a"], ["1", "7", "b"], ["1", None, "c"]
BATCH = [
    ("I", LOW, None),
    ("I", HIGH, None),
    ("U", LOW, HIGH),
    ("U", HIGH, LOW),
    ("U", HIGH, NONE),
    ("D", None, LOW),
    ("D", None, HIGH),
    ("T", None, None),
]


def carried_out(**entry):
    """The places of the changes of BATCH that reach the slave, with their actions."""
    there = view(Slave(connection="x", tables={"public.t": entry}).mapper, LAYOUT)
    rows = [(1, "9", place, 7, *change) for place, change in enumerate(BATCH)]
    batch = pa.Table.from_pylist([dict(zip(CHANGES.names, row, strict=True)) for row in rows], CHANGES)
    found = mapped_and_filtered(batch, {7: BoundView(there, b"")})
    assert found.schema == CHANGES
    return [(row["repl_key"], row["action"]) for row in found.to_pylist()]


def no_deletes_of_high(layout):
    def veto(action, new, old):
        return action == "D" and int(old["m"]) > 5

    return veto


def no_truncate(layout):
    return lambda action, new, old: action == "T" and new is None and old is None


def undecided(layout):
    return lambda action, new, old: None


def raising(layout):
    return lambda action, new, old: new["nothing"]


def hanging(layout):
    return lambda action, new, old: bool(time.sleep(1))


def none(layout):
    return None


def named(hook):
    return f"{__name__}:{hook.__name__}"


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ({"when": "new.n > old.n"}, "U3"),
        ({"when": "old.n IS NULL OR new.n IS DISTINCT FROM old.n AND new.n < 5"}, "I0 I1 U2 U4 T7"),
        ({"when": "new.n > 5 OR old.id IS NOT NULL", "actions": "IU"}, "I1 U2 U3 U4"),
        ({"when": "old.n > 5", "where": "n > 5"}, "D2 D6"),
        ({"when": "new.m > 5", "columns": {"n": "m"}, "exclude_columns": ["x"]}, "I1 U3 U4"),
        ({"veto": named(no_deletes_of_high), "columns": {"n": "m"}, "exclude_columns": ["id"]}, "I0 I1 U2 U3 U4 D5 T7"),
        ({"veto": named(no_truncate), "when": "new.n IS NULL"}, "D5 D6"),
    ],
)
def test_a_change_is_carried_out_if_the_condition_holds_for_it_and_nothing_vetoes_it(entry, left):
    assert " ".join(f"{action}{place}" for place, action in carried_out(**entry)) == left


@pytest.mark.parametrize(
    ("entry", "code", "why"),
    [
        ({"when": "n > 5"}, 7, "`when` of public.t cannot be used: .*say `new.` or `old.`"),
        ({"when": "new.m > 5"}, 7, "there is no column m"),
        ({"where": "new.n > 5"}, 7, "`where` of public.t .*`when` has them"),
        ({"compute": {"z": "old.n"}}, 7, "`compute.z` of public.t .*`when` has them"),
        ({"when": "10 / (new.n - 3) > 0"}, 162, "division by zero"),
        ({"veto": "nowhere:veto"}, 161, "the veto nowhere:veto cannot be used for public.t: .*No module"),
        ({"veto": named(none)}, 161, "what it makes cannot be called"),
        ({"veto": named(undecided)}, 162, "failed on 8 rows of public.t: TypeError: it answered NoneType"),
        ({"veto": named(raising)}, 162, "KeyError"),
        ({"veto": named(hanging)}, 162, "no answer for 0.2 s"),
    ],
)
def test_what_cannot_decide_is_named(entry, code, why, monkeypatch):
    monkeypatch.setattr(extensions, "PATIENCE_S", 0.2 if entry.get("veto") == named(hanging) else 60)
    with pytest.raises(SluiceError, match=why) as refused:
        carried_out(**entry)
    assert refused.value.code == code
    assert isinstance(refused.value, ConfigError) == (code in (7, 161))
