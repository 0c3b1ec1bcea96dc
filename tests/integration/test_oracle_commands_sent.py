"""Commands of an Oracle master on a slave, made of notes of its triggers. No server of Oracle is needed."""

from __future__ import annotations

import pytest
from support.oracle_session import note

from sluice.model.action import Action, Command
from sluice.model.names import TableName
from sluice.model.position import Position
from sluice.vendors import table_commands
from sluice.vendors.oracle.capture.commands import altered, plain
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.noted import noted
from sluice.vendors.oracle.catalog.recorded import layout_of

pytestmark = [pytest.mark.full, pytest.mark.postgres]

ID = OracleColumn("id", "NUMBER", precision=9, scale=0, not_null=True)
TEXT = OracleColumn("v", "VARCHAR2", length=9, chars=9)
PRICE = OracleColumn("p", "NUMBER", precision=6, scale=2, default="1.5", not_null=True)
WORD = OracleColumn("w", "VARCHAR2", length=20, chars=20, default="'it''s'")
DAY = OracleColumn("d", "DATE", length=7, default="DATE '2024-02-29'")
LONGER = OracleColumn("x", "VARCHAR2", length=30, chars=30)
# Columns behind each command, what somebody typed, and the first row then.
STEPS = (
    ([ID, TEXT, PRICE, WORD, DAY], "ADD", ["1", "a", "1.50", "it's", "2024-02-29 00:00:00"]),
    ([ID, OracleColumn(**{**vars(TEXT), "name": "x"}), PRICE, WORD, DAY], "RENAME COLUMN", ["1", "a", "1.50", "it's"]),
    ([ID, LONGER, OracleColumn(**{**vars(PRICE), "precision": 9}), WORD, DAY], "MODIFY", ["1", "a", "1.50", "it's"]),
    ([ID, LONGER, DAY], "DROP COLUMN", ["1", "a", "2024-02-29 00:00:00"]),
)


def test_a_slave_follows_each_command_and_drops_the_table_in_the_end(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v varchar(9))", ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    drain, name = world.drainer(), TableName("public", "t")
    reader = world.reader("zurich")
    slave, place, before = drain._slave, drain.position, CapturedTable(name, 7, (ID, TEXT), ("id",))
    for ordinal, (columns, said, row) in enumerate(STEPS, place.ordinal + 1):
        after = noted(7, note(CapturedTable(name, 7, tuple(columns), ("id",))))
        command = Command(Action.ALTER, layout_of(after), altered(before, after, said), ordinal=ordinal, key=ordinal)
        slave.apply([command], Position(place.segment, ordinal), (), lambda *_: None)
        found = reader.execute("SELECT * FROM t").fetchone()
        assert [str(value) for value in found][: len(row)] == row, said
        before = plain(after)
    gone = Command(Action.DROP, layout_of(before), table_commands.drop(layout_of(before)), ordinal=ordinal + 1, key=99)
    slave.apply([gone], Position(place.segment, ordinal + 1), (), lambda *_: None)
    assert reader.execute("SELECT to_regclass('t')").fetchone() == (None,)
    slave.close()
