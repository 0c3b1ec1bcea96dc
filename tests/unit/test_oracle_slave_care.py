"""Repairing rows of a slave on Oracle, and taking a replication out of it: the order of statements, and refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.oracle_session import INFO, refusal
from support.oracle_slave import COLUMNS, LAYOUT, PAIR, SCHEMA, server

from sluice.apply.mapping.table_view import view
from sluice.changelog.points import PointWait
from sluice.config.mapper import Mapper
from sluice.errors import ConfigError, FencedError, SluiceError, TransientError
from sluice.model.layout import Column
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.vendors.oracle import removal
from sluice.vendors.oracle.removal import remove
from sluice.vendors.oracle.write import repair as repairing
from sluice.vendors.oracle.write.repair import OracleRepair
from sluice.vendors.protocol.repair import RowsRepaired

T, S = (TableName(SCHEMA, name) for name in ("T", "S"))
OWN = replace(LAYOUT, name=T)
ROW = b"1\tnew\tx\t2024-02-29 12:00:00+00\t2024-02-29\t\\\\x0a\n"
DROPPED = [f'DROP TABLE "REPL"."SLUICE_{one}" PURGE' for one in ("POSITION", "LOADED", "INTENT")]
FORGOTTEN = ["position/lock", "position/holders", "load/forget", "ddl/forget", "position/remove", "asked", "COMMIT"]


def dropping(table):
    return f'DROP TABLE "{table.schema}"."{table.table}"'


def removing(monkeypatch, tables, **answers):
    session = server(position__left=[(0,)], catalog__table=[(7, "N", "NO", "NO")], **answers)
    monkeypatch.setattr(removal, "connect", lambda info, application: session)
    return session, lambda: remove(INFO, PAIR, SCHEMA, 5, tables, lambda: session.said.append("asked"))


@pytest.mark.parametrize(
    ("answers", "dropped", "gone"),
    [
        ({}, DROPPED, [f"table REPL.SLUICE_{one}" for one in ("POSITION", "LOADED", "INTENT")]),
        ({"position__left": [(1,)]}, [], ["the position of sales -> depot"]),
        ({DROPPED[0]: refusal("ORA-00054: resource busy")}, DROPPED[:1], ["the position of sales -> depot"]),
    ],
)
def test_a_position_is_removed_under_the_fence_and_our_tables_with_the_last_one(monkeypatch, answers, dropped, gone):
    session, run = removing(monkeypatch, None)
    session.answers |= {name.replace("__", "/"): answer for name, answer in answers.items()}
    assert run() == [one.replace("sales -> depot", str(PAIR)) for one in gone]
    assert session.said == [*FORGOTTEN, "position/hold", "position/left", *dropped, "COMMIT", "CLOSE"]


def test_tables_are_dropped_after_that_those_last_to_which_others_refer(monkeypatch):
    session, run = removing(monkeypatch, [T, S])
    session.answers["catalog/references"] = lambda values: [(SCHEMA, "S")] if values["name"] == "T" else []
    refused = iter([refusal("ORA-02449: unique/primary keys in table referenced by foreign keys"), lambda values: []])
    session.answers[dropping(T)] = lambda values: next(refused)(values)
    assert run()[:2] == [f"table {T}", f"table {S}"]
    assert [one for one in session.said if one in (dropping(T), dropping(S), "COMMIT")][:4] == [
        *("COMMIT", dropping(T), dropping(S), dropping(T))
    ]


def test_a_table_to_which_another_refers_is_not_removed(monkeypatch):
    session, run = removing(monkeypatch, [T, S], catalog__references=[("APP", "ORDERS")])
    with pytest.raises(SluiceError, match=r"a foreign key of APP\.ORDERS") as error:
        run()
    assert error.value.code == 387
    assert "a foreign key of" in error.value.fact
    assert session.said[-2:] == ["catalog/references", "CLOSE"]
    session, run = removing(monkeypatch, [T, S])
    session.answers[dropping(T)] = refusal("ORA-02449: unique/primary keys in table referenced by foreign keys")
    with pytest.raises(SluiceError, match=r"is removed, but REPL\.T stays") as error:
        run()
    assert error.value.code == 652
    assert "is removed" in error.value.fact
    assert dropping(S) in session.said
    assert DROPPED[1] in session.said


def test_a_removal_that_was_overtaken_changes_nothing(monkeypatch):
    session, run = removing(monkeypatch, [T], position__lock=[(6, 2, 40, None)])
    with pytest.raises(FencedError):
        run()
    assert session.said[-3:] == ["position/lock", "ROLLBACK", "CLOSE"]
    assert "asked" not in session.said


def repair_rows(monkeypatch, layout=OWN, **answers):
    session = server(**{"position__where": [(40,)], **answers})
    monkeypatch.setattr(repairing, "connect", lambda info, application: session)
    rows = OracleRepair(INFO, PAIR, SCHEMA, Mapper({}, {}), [])
    return session, rows, view(Mapper({}, {}), layout)


def ended(rows, keys, expect_allowed=lambda: None):
    return rows.end(keys, PointWait(PAIR, Position(2, 40), 9), expect_allowed, lambda repaired: repaired)


def test_rows_become_those_of_the_master_while_the_position_is_held(monkeypatch):
    session, rows, seen = repair_rows(monkeypatch)
    assert rows.begin(seen) == ["integer"]
    rows.write(ROW)
    deleting = 'DELETE FROM "REPL"."T" held WHERE (held."id") IN'
    del session.said[:], session.given[:]
    found = ended(rows, [("1",), ("2",)])
    assert isinstance(found, RowsRepaired)
    assert found.written == 1
    asked = ["position/where", "ddl/intended", "position/lock", "ddl/intended"]
    assert session.said[:4] == asked
    assert session.said[-2:] == ["durable commit", "COMMIT"]
    order = [
        next(place for place, one in enumerate(session.said) if one.startswith(begin))
        for begin in ("LOCK TABLE", "write/stage", deleting, "MERGE INTO")
    ]
    assert order == sorted(order)
    # The key that the master has not, and the row that it has.
    staged = [given for given in session.given if isinstance(given, list)]
    assert [[(row[0], row[1]) for row in some] for some in staged] == [[(0, 2)], [(2, 1)]]


def test_a_key_that_the_slave_lacks_is_not_counted_as_deleted(monkeypatch):
    _, rows, seen = repair_rows(monkeypatch)
    rows.begin(seen)
    assert ended(rows, [("2",), ("3",)]) == RowsRepaired(0, 0)


@pytest.mark.parametrize(
    ("answers", "refuse", "kind"),
    [({"position__lock": [(5, 2, 41, None)]}, False, TransientError), ({}, True, FencedError)],
)
def test_a_repair_that_is_not_at_the_point_or_not_allowed_any_more_is_rolled_back(monkeypatch, answers, refuse, kind):
    def expect_allowed():
        if refuse:
            raise FencedError(50, "something else began")

    session, rows, seen = repair_rows(monkeypatch, **answers)
    rows.begin(seen)
    rows.write(ROW)
    with pytest.raises(kind):
        ended(rows, [("1",)], expect_allowed)
    assert session.said[-1] == "ROLLBACK"
    assert not any(one.startswith(("MERGE", "DELETE")) for one in session.said)


def test_a_slave_on_its_way_is_waited_for_and_not_held_meanwhile(monkeypatch):
    ordinals = iter([38, 39, 40])
    session, rows, seen = repair_rows(monkeypatch, position__where=lambda values: [(next(ordinals),)])
    rows.begin(seen)
    del session.said[:], session.given[:]
    ended(rows, [])
    assert session.said == [*["position/where", "ddl/intended"] * 3, "position/lock", *session.said[7:]]


def test_rows_of_tables_of_others_and_of_tables_that_are_unfit_are_not_repaired(monkeypatch):
    _, rows, seen = repair_rows(monkeypatch, LAYOUT)
    with pytest.raises(ConfigError) as error:
        rows.begin(seen)
    assert error.value.code == 523
    _, rows, seen = repair_rows(monkeypatch, catalog__primary_key=[])
    with pytest.raises(SluiceError) as error:
        rows.begin(seen)
    assert error.value.code == 73
    assert "does not take" in error.value.fact


def test_the_type_of_a_key_has_the_digits_of_the_slave(monkeypatch):
    """A master that finds its rows by texts is refused if it spells them otherwise."""
    priced = replace(OWN, columns=(Column("id", "numeric(9,2)", not_null=True), *OWN.columns[1:]))
    wider = [("id", "NUMBER", None, 22, 12, 2, 0, None, "N", "NO", "NO"), *COLUMNS[1:]]
    _, rows, seen = repair_rows(monkeypatch, priced, catalog__columns=wider)
    assert rows.begin(seen) == ["numeric(12,2)"]
