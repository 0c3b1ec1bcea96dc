"""Commands of a master on a slave on Oracle: the order of statements, and where one that was begun goes on (R3)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.oracle_catalog import Catalog, refuse
from support.oracle_slave import SCHEMA, depot

from sluice.config.mapper import Mapper
from sluice.crash import CrashPoint
from sluice.errors import FencedError, LockTimeout, SluiceError, TransientError
from sluice.model.action import Action, Command, Existing
from sluice.model.position import PartWay, Position
from sluice.vendors import committed_ddl
from sluice.vendors.committed_ddl import Intent
from sluice.vendors.oracle import slave as slaves
from sluice.vendors.oracle.names import composed

END = Position(3, 42)


def table(*columns, name="T", key=("id",), **more):
    """A definition; a column is its number, its name, its type, and more."""
    given = [{"number": number, "name": name, "type": type_, **other} for number, name, type_, other in columns]
    return {"schema": SCHEMA, "table": name, "key": list(key), "columns": given, **more}


ID = (1, "id", "integer", {"not_null": True})
OLD = table(
    ID,
    (2, "v", "character varying(5)", {}),
    (3, "w", "date", {}),
    (5, "x", "uuid", {}),
    (6, "y", "character varying(3)", {}),
)
NEW = table(
    ID,
    (2, "u", "character varying(9)", {"not_null": True}),
    (4, "w", "text", {"filled": "it's"}),
    (6, "y", "text", {}),
    name="T2",
)
STATEMENTS = [
    """ALTER TABLE "REPL"."T" ADD ("SLUICE_ON_THE_WAY_0" CLOB NULL)""",
    """BEGIN
    UPDATE "REPL"."T" SET "SLUICE_ON_THE_WAY_0" = "y";
    EXECUTE IMMEDIATE 'ALTER TABLE "REPL"."T" SET UNUSED ("w", "x", "y")';
END;""",
    """ALTER TABLE "REPL"."T" RENAME COLUMN "v" TO "u\"""",
    """ALTER TABLE "REPL"."T" RENAME COLUMN "SLUICE_ON_THE_WAY_0" TO "y\"""",
    """ALTER TABLE "REPL"."T" MODIFY ("u" VARCHAR2(9 CHAR) NOT NULL)""",
    """ALTER TABLE "REPL"."T" ADD ("w" CLOB DEFAULT 'it''s' NULL)""",
    """ALTER TABLE "REPL"."T" RENAME TO "T2\"""",
    """ALTER TABLE "REPL"."T2" MODIFY ("w" DEFAULT NULL)""",
]

ANY_ROW = composed("ddl/any_row", table='"REPL"."T"')


def command(before=None, after=None, place=41, key=9):
    action = Action.CREATE if before is None else Action.DROP if after is None else Action.ALTER
    sides = {name: side for name, side in (("before", before), ("after", after)) if side}
    return Command(action, None, json.dumps(sides), place, key)


class Server:
    """A catalog, and what was written down in the transactions that were committed."""

    def __init__(self, monkeypatch):
        self.catalog = Catalog(SCHEMA)
        self.intent = None
        self.monkeypatch = monkeypatch
        self.dies_at = None
        self.epoch = 5
        self.session = self.slave = None
        self.rows = [(1,)]

    def begin(self, **answers):
        """A job that takes over."""
        self.session, self.slave = depot(
            self.monkeypatch,
            Mapper({}, {}),
            **{
                "catalog__columns": self._asked("catalog/columns"),
                "catalog__primary_key": self._asked("catalog/primary_key"),
                "ddl__not_null": self._asked("ddl/not_null"),
                ANY_ROW: self.rows,
                "ddl__carry_out": self._define,
                "ddl__intended": lambda values: [(self.intent,)] if self.intent else [],
                "ddl__intend": self._intend,
                "ddl__forget": self._forget,
                "position__lock": lambda values: [(self.epoch, 2, 40, None)],
                **answers,
            },
        )
        self.slave.take_over(5)
        del self.session.said[:], self.session.given[:]
        return self.slave

    def make(self, definition):
        """A table is there."""
        slave = self.begin()
        slave.apply([command(after=definition)], Position(3, 41))
        for kept in self.catalog.tables.values():
            kept.has_rows = bool(self.rows)
        self.begin()
        del self.catalog.done[:]

    def _asked(self, name):
        return lambda values: self.catalog.answer(composed(name), values)

    def _intend(self, values):
        self.intent = values["intended"]
        return 1

    def _forget(self, values):
        self.intent = None
        return 1

    def _define(self, values):
        if self.dies_at == len(self.catalog.done):
            self.dies_at = None
            raise SystemExit
        self.catalog.define(values["statement"])
        return 0


@pytest.fixture
def server(monkeypatch):
    return Server(monkeypatch)


def test_a_command_is_intended_with_the_rows_before_it_and_executed_while_the_fence_is_held(server):
    server.make(OLD)
    server.slave.apply([command(OLD, NEW)], END)
    assert server.catalog.done == STATEMENTS
    assert [one for one in server.session.said if not one.startswith("catalog/")] == [
        *("position/lock", "ddl/intended"),
        "ddl/not_null",
        ANY_ROW,
        *("ddl/forget", "ddl/intend", "durable commit", "COMMIT"),
        "position/lock",
        "ddl/not_null",
        *["ddl/carry_out"] * len(STATEMENTS),
        "COMMIT",
        *("position/lock", "ddl/intended", "position/advance", "ddl/forget", "durable commit", "COMMIT"),
    ]
    assert server.slave.part_way() is None
    assert server.intent is None


@pytest.mark.parametrize("done", range(len(STATEMENTS)))
def test_a_job_that_dies_between_two_statements_is_followed_by_one_that_goes_on(server, done):
    server.make(OLD)
    server.dies_at = done
    with pytest.raises(SystemExit):
        server.slave.apply([command(OLD, NEW)], END)
    assert server.intent
    slave = server.begin()
    assert slave.part_way() == PartWay(41, 9)
    slave.apply([command(OLD, NEW)], END)
    assert server.catalog.done == STATEMENTS
    assert server.intent is None


def test_a_job_that_was_overtaken_in_front_of_a_command_executes_nothing(server):
    server.make(OLD)

    def overtaken(here):
        if here is CrashPoint.INTENDED:
            server.epoch = 6

    server.monkeypatch.setattr(committed_ddl, "crash_if_asked", overtaken)
    with pytest.raises(FencedError):
        server.slave.apply([command(OLD, NEW)], END)
    assert server.catalog.done == []
    assert server.session.said[-2:] == ["position/lock", "ROLLBACK"]


def test_a_table_that_somebody_alters_meanwhile_is_left_to_a_person(server):
    server.make(OLD)
    server.dies_at = 3
    with pytest.raises(SystemExit):
        server.slave.apply([command(OLD, NEW)], END)
    server.catalog.define('ALTER TABLE "REPL"."T" ADD ("other" CLOB NULL)')
    slave = server.begin()
    with pytest.raises(SluiceError, match=r"SLC-565: .*there is REPL\.T \(.*, other CLOB, u VARCHAR2"):
        slave.apply([command(OLD, NEW)], END)
    # With another configuration it would not become the same.
    server.catalog.define('ALTER TABLE "REPL"."T" SET UNUSED ("other")')
    intent = Intent.from_json(server.intent)
    server.intent = Intent(intent.ordinal, intent.key, 0, intent.before, dict.fromkeys(intent.after)).to_json()
    with pytest.raises(SluiceError, match="SLC-565"):
        server.begin().apply([command(OLD, NEW)], END)


def test_what_somebody_did_in_that_moment_is_done_and_anything_else_is_refused(server):
    server.make(OLD)
    define = server._define

    def twice(values):
        define(values)
        return define(values)

    server.begin(ddl__carry_out=twice)
    # "ADD" is the first of them whose second time has a code of its own.
    more = table(
        *[(one["number"], one["name"], one["type"], {}) for one in OLD["columns"][1:]], ID, (7, "n", "date", {})
    )
    server.slave.apply([command(OLD, more)], END)
    assert server.catalog.done[-1] == 'ALTER TABLE "REPL"."T" ADD ("n" DATE NULL)'

    def unwilling(values):
        raise refuse("ORA-02449: unique/primary keys in table referenced by foreign keys")

    server.begin(ddl__carry_out=unwilling)
    with pytest.raises(SluiceError, match=r"SLC-140: defining REPL\.T as the master does"):
        server.slave.apply([command(more)], END)

    def busy(values):
        raise refuse("ORA-00054: resource busy")

    server.begin(ddl__carry_out=busy)
    with pytest.raises(LockTimeout, match="SLC-036"):
        server.slave.apply([command(more)], END)
    server.begin()
    server.slave.apply([command(more)], END)
    assert server.catalog.tables == {}
    server.slave.apply([command(more, place=43)], Position(3, 44))


def test_tables_are_made_emptied_or_made_anew_as_the_policies_say_and_others_are_left_alone(server):
    server.make(OLD)
    wider = table(ID, (2, "v", "text", {}))
    with pytest.raises(SluiceError, match="SLC-141"):
        server.slave.apply([command(after=OLD)], END)
    with pytest.raises(SluiceError, match=r"SLC-073: .*does not take"):
        server.slave.apply([command(after=wider)], END)
    recreate = replace(command(after=wider), existing=Existing.RECREATE)
    server.slave.apply([recreate], END)
    assert [one[:10] for one in server.catalog.done] == ["DROP TABLE", "CREATE TAB"]
    overwrite = replace(command(after=wider, place=43), existing=Existing.OVERWRITE)
    del server.session.said[:]
    server.slave.apply([overwrite], Position(3, 44))
    assert 'DELETE FROM "REPL"."T"' in server.session.said
    assert "ddl/intend" not in server.session.said
    server.session.answers["ddl/kind"] = [("VIEW",)]
    with pytest.raises(SluiceError, match=r"SLC-140: .*REPL\.T here, which is of the type VIEW"):
        server.slave.apply([command(wider, place=45)], Position(3, 46))
    with pytest.raises(SluiceError, match="SLC-523"):
        server.slave.apply([command({**wider, "schema": "OTHER"}, place=45)], Position(3, 46))


def test_rows_in_front_of_a_command_do_not_come_twice_though_the_answer_to_their_commit_was_lost(server):
    server.make(OLD)
    commit = server.session.commit

    def lost():
        commit()
        server.session.commit = commit
        raise refuse("ORA-01013: user requested cancel of current operation")

    server.session.commit = lost
    with pytest.raises(TransientError, match="SLC-034"):
        server.slave.apply([command(OLD, NEW)], END)
    assert server.intent
    with pytest.raises(TransientError, match=r"SLC-083: .*answer to a commit was lost"):
        server.slave.apply([command(OLD, NEW)], END)
    server.begin().apply([command(OLD, NEW)], END)
    assert server.catalog.done == STATEMENTS


def test_a_session_that_has_ended_is_no_session_that_took_over(server):
    server.make(OLD)
    server.session.is_healthy = lambda: False
    server.monkeypatch.setattr(slaves, "connect", lambda info, application: server.session)
    with pytest.raises(TransientError, match=r"SLC-083: .*has ended"):
        server.slave.apply([command(OLD, NEW)], END)
