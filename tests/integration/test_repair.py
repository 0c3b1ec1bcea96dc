"""A repair makes exactly the rows that differ what the master's are, while both sides are written to (R10)."""

from __future__ import annotations

import itertools

import pytest
from support.updating import background, compare_here
from support.world import SOURCE

from sluice.cli import repair_command
from sluice.cli.repair_command import Chosen
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.repair import chosen_rows
from sluice.repair.run import RepairRequest, repair
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import audit_trail, blocked, comparisons, replications
from sluice.vendors.postgresql.load.keys import PostgresRepair
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE legs (day date, nr int, note text, score float8, PRIMARY KEY (day, nr));
CREATE TABLE planes (id int PRIMARY KEY, tail text UNIQUE, seats int);
CREATE TABLE heap (a int, note text); INSERT INTO heap VALUES (1, 'a');
CREATE TABLE rates (id numeric, f float8, day int GENERATED ALWAYS AS IDENTITY, note text, PRIMARY KEY (id, f, day));
INSERT INTO rates (id, f, note) SELECT g + 0.00, 0, 'a' FROM generate_series(1, 3) AS g;
INSERT INTO legs SELECT date '2013-01-01' + g % 7, g, 'leg, ' || g, g / 10.0 FROM generate_series(1, 1500) AS g;
INSERT INTO planes SELECT g, 'N' || g, 100 FROM generate_series(1, 300) AS g;
"""
LEGS, PLANES, HEAP = (TableName("public", name) for name in ("legs", "planes", "heap"))
HARM = """
DELETE FROM branch.legs WHERE nr % 3 = 1;
UPDATE branch.legs SET note = NULL, score = -1 WHERE nr % 3 = 2;
UPDATE branch.planes SET seats = 0 WHERE id IN (1, 300); DELETE FROM branch.planes WHERE id = 7;
INSERT INTO branch.planes VALUES (1000, 'N7', 1); INSERT INTO branch.legs VALUES ('2020-01-01', 1, 'extra', 0);
"""


@pytest.fixture
def world(updating):
    """A slave that is NORMAL, under other names."""
    made = updating(DDL, {"public.legs": {}, "public.planes": {}, "public.heap": {}}, slaves=["geneva"])
    made.update()
    made.end_update()
    return made


def fix(world, *tables, compare=compare_here, **more):
    """A repair, beside which publisher and drain run."""
    with world.running():
        return repair(world.context, RepairRequest(SOURCE, "geneva", tables, **more), compare, patience_s=60)


def report_of(world, *tables):
    """The number of a report of what differs."""
    with world.running(), pytest.raises(SluiceError, match=r"SLC-090"):
        verify(world.context, VerifyRequest(SOURCE, ("geneva",), tables), compare_here, 60)
    return comparisons.last(world.context.store, world.pair("geneva"))


def test_all_rows_that_differ_are_repaired_and_nothing_else_is_written(world):
    slave = world.reader("geneva")
    kept = slave.execute("SELECT ctid, nr FROM branch.legs WHERE nr % 3 = 0 ORDER BY nr").fetchall()
    slave.execute(HARM)
    found = fix(world)
    assert (found["deleted"], found["written"]) == (2, 1000 + 3)
    assert "compared again: equal" in found["note"]
    assert slave.execute("SELECT ctid, nr FROM branch.legs WHERE nr % 3 = 0 ORDER BY nr").fetchall() == kept
    assert world.verify() == {"geneva": 0}
    entries = {one.event: one for one in audit_trail.last(world.context.store, world.pair("geneva"), 10)}
    assert "1,001 rows of public.legs, 4 rows of public.planes" in entries["repair"].detail
    assert entries["repaired"].detail == "1,005 keys: 2 rows deleted, 1,003 inserted or updated"
    assert entries["repair"].actor
    assert fix(world)["note"] == "geneva: nothing differs"


def test_under_constant_writes_to_the_same_rows_no_newer_change_is_undone(world):
    world.reader("geneva").execute(HARM)
    session, turns = world.session(), itertools.count()

    def write():
        nr = (n := next(turns)) * 7 % 1500 + 1
        session.execute("UPDATE legs SET score = %s, note = 'turn' WHERE nr = %s", [n, nr])
        session.execute("DELETE FROM legs WHERE nr = %s", [(nr + 1) % 1500 + 1])
        session.execute("UPDATE planes SET seats = %s WHERE id IN (1, 300)", [n])
        session.execute(
            "INSERT INTO legs VALUES (date '2013-01-01' + %s, %s, 'again', 0) ON CONFLICT DO NOTHING",
            [(nr + 30) % 7, (nr + 30) % 1500 + 1],
        )

    with background(write, pause_s=0.01):
        assert "compared again: equal" in fix(world)["note"]
    assert world.verify() == {"geneva": 0}
    assert next(turns) > 20


@pytest.mark.full
def test_a_report_is_repaired_in_part_by_tables_and_kinds(world):
    world.reader("geneva").execute(HARM)
    report = report_of(world)
    found = fix(world, LEGS, report=report, kinds=("changed", "extra"))
    assert "compared again: 500 rows of other kinds differ" in found["note"]
    world.reader("geneva").execute("UPDATE branch.legs SET note = 'again' WHERE nr % 3 = 0")
    with pytest.raises(SluiceError, match=r"SLC-469: .*legs on geneva: 0 missing, 0 extra, 500 changed") as told:
        fix(world, LEGS, report=report)
    assert "repair" in told.value.hint
    report = report_of(world, LEGS)
    assert "compared again: equal" in fix(world, LEGS, report=report)["note"]
    assert world.reader("geneva").execute("SELECT seats FROM branch.planes WHERE id = 1").fetchone() == (0,)


# Rows that cannot be told: what is chosen, and why they cannot.
ODD_ROWS = [
    ({"rows": "1"}, r"SLC-466: .* those of one table, and rows differ of public\.legs, public\.planes"),
    ({"rows": "1", "report": None}, r"SLC-466: .* no report"),
    ({"rows": "1", "kinds": ("missing",)}, r"SLC-466: .* kinds of rows as well"),
    ({"rows": "1", "tables": (HEAP,)}, r"SLC-466: .* no row of this table differs"),
    ({"rows": "0,2,4-9", "tables": (PLANES,)}, r"SLC-466: report \d+ has no rows 0, 5-9 of public\.planes"),
    ({"rows": " "}, r"SLC-466: rows ' ' cannot be read"),
]


def ask_for(world, rows, tables=(), **more):
    """A repair of rows as people write their numbers."""
    fix(world, *tables, rows=chosen_rows.numbers(rows), **more)


@pytest.mark.full
def test_chosen_rows_of_a_report_alone_are_written(world, capsys, monkeypatch):
    slave = world.reader("geneva")
    slave.execute(HARM)
    report = report_of(world)
    found = comparisons.tables_of(world.context.store, report, world.pair("geneva"))
    rows = {one.table: comparisons.rows_of(world.context.store, one.id) for one in found}
    (extra,) = (number for number, row in rows[LEGS] if row.kind == "extra")
    (one, two) = [(number, row) for number, row in rows[LEGS] if row.kind == "changed"][100:102]
    (gone, *_) = [(number, row) for number, row in rows[LEGS] if row.kind == "missing"]
    numbers = chosen_rows.numbers(f"{two[0]}, {extra},{one[0]}, {gone[0]}")
    before = slave.execute("SELECT ctid, day, nr FROM branch.legs ORDER BY nr, day").fetchall()
    for odd, match in ODD_ROWS:
        with pytest.raises(SluiceError, match=match):
            ask_for(world, **{"report": report} | odd)
    dry = fix(world, LEGS, report=report, rows=numbers, dry_run=True)["statements"]
    assert sorted(text[:6] for text in dry) == ["DELETE", "INSERT", "UPDATE", "UPDATE"]
    assert slave.execute("SELECT ctid, day, nr FROM branch.legs ORDER BY nr, day").fetchall() == before
    monkeypatch.setattr("sluice.cli.repair_command.cli_context", lambda: world.context)
    words = Chosen((str(LEGS),), report=report, rows=str(numbers))
    assert repair_command.repair(SOURCE, "geneva", words, dry_run=True) == 0
    assert [line.rpartition(" -- ")[2] for line in capsys.readouterr().out.splitlines()] == [
        f"row {number} of public.legs" for number in sorted({extra, one[0], two[0], gone[0]})
    ]
    # Another one is harmed anew, and one of those chosen is deleted on the master: nothing of that is undone.
    world.master.execute("DELETE FROM legs WHERE (day, nr) = (%s, %s)", two[1].key)
    told = fix(world, LEGS, report=report, rows=numbers)
    assert (told["deleted"], told["written"]) == (1, 2)
    assert "compared again: 997 rows that were not chosen differ" in told["note"]
    after = slave.execute("SELECT ctid, day, nr FROM branch.legs ORDER BY nr, day").fetchall()
    touched = {(str(day), str(nr)) for _, day, nr in set(before) ^ set(after)}
    assert touched == {one[1].key, two[1].key, gone[1].key, ("2020-01-01", "1")}
    entries = {entry.event: entry for entry in audit_trail.last(world.context.store, world.pair("geneva"), 10)}
    assert f"4 rows of public.legs, chosen by number: {numbers}" in entries["repair"].detail

    # A report that keeps one row alone does not say whether the others are chosen ones.
    world.configure(lambda settings: settings["sources"][SOURCE].update(verification={"max_rows": 1}))
    assert "997 rows that were not chosen differ" in fix(world, LEGS, report=report, rows=numbers)["note"]

    def harmed(*at):
        slave.execute("UPDATE branch.legs SET note = 'harmed' WHERE (day, nr) = (%s, %s)", one[1].key)
        return verify(*at)

    monkeypatch.setattr("sluice.repair.run.verify", harmed)
    with pytest.raises(SluiceError, match=r"SLC-469"):
        fix(world, LEGS, report=report, rows=numbers)


@pytest.mark.full
def test_a_dry_run_says_the_statements_and_changes_nothing(world):
    slave = world.reader("geneva")
    slave.execute(HARM)
    found = fix(world, PLANES, dry_run=True)
    assert sorted(found["statements"]) == [
        """DELETE FROM "branch"."planes" WHERE "id" = '1000';""",
        """INSERT INTO "branch"."planes" SELECT :row; -- "id" = '7'""",
        """UPDATE "branch"."planes" SET "seats" = :"seats" WHERE "id" = '1';""",
        """UPDATE "branch"."planes" SET "seats" = :"seats" WHERE "id" = '300';""",
    ]
    assert slave.execute("SELECT seats FROM branch.planes WHERE id = 1").fetchone() == (0,)


@pytest.mark.full
def test_computed_and_filtered_rows_are_repaired_as_they_are_delivered(world):
    world.settings["slaves"]["geneva"]["tables"] = {
        "public.planes": {"where": "id <= 200", "compute": {"tail": "lower(tail)"}}
    }
    world.configure(lambda _: None)
    found = fix(world, PLANES)
    assert (found["deleted"], found["written"]) == (100, 200)
    assert world.reader("geneva").execute("SELECT count(*), min(tail) FROM branch.planes").fetchone() == (200, "n1")


@pytest.mark.full
def test_what_cannot_be_repaired_is_refused_before_anything_is_changed(world):
    slave = world.reader("geneva")
    slave.execute("INSERT INTO branch.heap VALUES (2, 'b'); DELETE FROM branch.planes WHERE id = 7")
    with pytest.raises(SluiceError, match=r"SLC-467: rows of public\.heap .* have no key") as told:
        fix(world, HEAP)
    assert "public.heap" in told.value.hint
    found = fix(world, report=report_of(world, HEAP, PLANES))
    assert (found["written"], found["left_out"], "; SLC-467" in found["note"]) == (1, [told.value.fact], True)
    with pytest.raises(SluiceError, match=r"SLC-467: rows of public\.heap"):
        fix(world, report=report_of(world, HEAP))
    with pytest.raises(SluiceError, match=r"SLC-466: report 99999 is none of slave geneva"):
        fix(world, report=99999)
    slave.execute("ALTER TABLE branch.legs DROP CONSTRAINT legs_pkey, ALTER nr DROP NOT NULL, ADD UNIQUE (day, nr)")
    slave.execute("INSERT INTO branch.legs VALUES ('2013-01-01', NULL, 'x', 0); DELETE FROM branch.planes WHERE id = 7")
    with pytest.raises(SluiceError, match=r"SLC-467: rows of public\.legs .* has NULL in its key"):
        fix(world, LEGS)
    report = report_of(world, PLANES)
    with pytest.raises(SluiceError, match=rf"SLC-466: report {report} says nothing of public\.legs"):
        fix(world, LEGS, report=report)
    world.master.execute("ALTER TABLE planes ADD owner text")
    with pytest.raises(SluiceError, match=rf"SLC-466: report {report} is older .*public\.planes: it was altered"):
        fix(world, PLANES, report=report)
    control = world.reader("control")
    control.execute("DELETE FROM row_difference")
    with pytest.raises(SluiceError, match=r"SLC-466.* housekeeping deleted its rows"):
        fix(world, PLANES, report=report)
    control.execute("UPDATE comparison SET body = jsonb_set(body, '{update}', '0')")
    with pytest.raises(SluiceError, match=r"SLC-466.* an initial update has filled the slave since"):
        fix(world, PLANES, report=report)
    assert slave.execute("SELECT count(*) FROM branch.planes").fetchone() == (299,)
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.REQUEST)
    assert world.status("geneva") is Status.INITIAL
    with pytest.raises(SluiceError, match=r"SLC-020: slave geneva is INITIAL"):
        fix(world)


@pytest.mark.full
def test_a_report_that_the_log_has_left_behind_is_refused(world):
    world.reader("geneva").execute("DELETE FROM branch.planes WHERE id = 7")
    report = report_of(world, PLANES)
    world.master.execute("UPDATE planes SET seats = 3")
    world.catch_up()
    world.reader("control").execute("UPDATE segment SET trimmed_at = clock_timestamp()")
    with pytest.raises(SluiceError, match=r"SLC-466.* the change log no longer has what came after it"):
        fix(world, PLANES, report=report)


def skip(world):
    """What a person does who lets a slave go on without a table."""
    blocked.skip(world.context.store, world.pair("geneva"), PLANES, "eve")


def exclude(world):
    """What a person does who wants a table of a slave to be his own."""
    entry = {"public.planes": {"exclude": True}}
    world.configure(lambda settings: settings["slaves"]["geneva"].update(tables=entry))


@pytest.mark.full
@pytest.mark.parametrize(("leave", "why"), [(skip, "eve skipped it"), (exclude, "excludes it")])
def test_a_table_that_a_slave_is_no_longer_given_is_left_alone(world, leave, why):
    slave = world.reader("geneva")
    slave.execute("DELETE FROM branch.planes WHERE id = 7; DELETE FROM branch.legs WHERE nr = 7")
    report = report_of(world)
    leave(world)
    for asked in ({"report": report}, {"report": report, "dry_run": True}, {}):
        with pytest.raises(SluiceError, match=rf"SLC-467: rows of public\.planes .*{why}"):
            fix(world, LEGS, PLANES, **asked)
    assert slave.execute("SELECT count(*) FROM branch.planes").fetchone() == (299,)
    assert "compared again: equal" in fix(world, LEGS, report=report)["note"]


OWN = """
CREATE TABLE branch.rented (tail text {} REFERENCES branch.planes (tail) ON {});
INSERT INTO branch.rented VALUES ('N0')
"""
RESPELLED = """
CREATE TABLE branch.rated (id numeric, f float8, day int, FOREIGN KEY (id, f, day) REFERENCES branch.rates);
INSERT INTO branch.rated SELECT id, f, day FROM branch.rates;
UPDATE branch.rates SET id = 1.0 WHERE id = 1;
UPDATE branch.rates SET f = '-0', note = 'b' WHERE id = 2
"""


@pytest.mark.full(but=["DELETE CASCADE"])
@pytest.mark.parametrize("action", ["DELETE CASCADE", "DELETE SET NULL", "UPDATE SET DEFAULT"])
def test_rows_of_others_that_a_key_would_change_are_left_alone(updating, weak, action):
    world = updating(DDL, {"public.planes": {}, "public.rates": {}}, slaves=["geneva"], elsewhere={"geneva": weak})
    world.update()
    world.end_update()
    slave = world.reader("geneva")
    slave.execute("INSERT INTO branch.planes VALUES (0, 'N0', 1)")
    slave.execute(OWN.format("DEFAULT 'N1' CONSTRAINT rents", action).encode())
    with pytest.raises(SluiceError, match=r"SLC-074: rents on branch\.rented of the slave would change rows") as told:
        fix(world)
    assert 'ALTER TABLE "branch"."rented" DROP CONSTRAINT rents, ADD CONSTRAINT rents' in told.value.hint
    entries = {one.event: one.detail for one in audit_trail.last(world.context.store, world.pair("geneva"), 3)}
    assert entries["repair failed"].startswith("SLC-074; by then: 0 keys")
    assert "repaired" not in entries
    assert slave.execute("TABLE branch.rented").fetchall() == [("N0",)]
    slave.execute("DROP TABLE branch.rented")
    # Keys that are equal and spelled otherwise, of rows that others refer to.
    slave.execute(RESPELLED)
    assert "5 keys: 1 rows deleted" in (note := fix(world)["note"])
    assert "compared again: equal" in note
    found = slave.execute("SELECT id::text, f::text, note FROM branch.rates ORDER BY id").fetchall()
    assert found == [("1.00", "0", "a"), ("2.00", "0", "a"), ("3.00", "0", "a")]


def test_rows_of_a_slave_that_may_have_its_own_are_left_alone_whatever_an_older_report_says(world):
    slave = world.reader("geneva")
    slave.execute(
        "UPDATE branch.planes SET seats = 0 WHERE id IN (1, 300); INSERT INTO branch.planes VALUES (400, 'own')"
    )
    report = report_of(world, PLANES)
    world.master.execute("DELETE FROM planes WHERE id = 1")
    world.catch_up()
    slave.execute("INSERT INTO branch.planes VALUES (1, 'mine')")
    entry = {"public.planes": {"on_existing_rows": "merge"}}
    world.configure(lambda settings: settings["slaves"]["geneva"].update(tables=entry))
    assert not [text for text in fix(world, report=report, dry_run=True)["statements"] if "DELETE" in text]
    found = fix(world, report=report)
    assert (found["deleted"], found["written"]) == (0, 1)
    kept = slave.execute("SELECT id, tail, seats FROM branch.planes WHERE id IN (1, 300, 400) ORDER BY id").fetchall()
    assert kept == [(1, "mine", None), (300, "N300", 100), (400, "own", None)]


def begin_update(world):
    replications.record(world.context.store, world.pair("geneva"), ReplicationEvent.REQUEST)


MEANWHILE = (
    (lambda world: world.reader("control").execute("DELETE FROM point"), r"SLC-083: the point \d+ .* is over"),
    (skip, r"SLC-467: rows of public\.planes .*eve skipped it"),
    (begin_update, r"SLC-050: slave geneva is INITIAL: something else began to fill it"),
)


def test_whatever_happens_meanwhile_keeps_the_rows_from_being_written(world, monkeypatch):
    slave = world.reader("geneva")
    slave.execute("DELETE FROM branch.planes WHERE id = 7")
    report, arrived = report_of(world, PLANES), PostgresRepair._arrived
    for happen, told in MEANWHILE:

        def happened(repair, at, look, happen=happen):
            if world.status("geneva") is Status.NORMAL and look == "load/blocks/at":
                happen(world)
            return arrived(repair, at, look)

        monkeypatch.setattr(PostgresRepair, "_arrived", happened)
        with pytest.raises(SluiceError, match=told):
            fix(world, PLANES, report=report)
        assert slave.execute("SELECT count(*) FROM branch.planes").fetchone() == (299,)
        world.reader("control").execute("DELETE FROM skipped")
