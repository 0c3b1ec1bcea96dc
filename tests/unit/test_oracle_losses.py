"""Changes of an Oracle master that no trigger of rows sees: which tables are LOST by them, and why (R9)."""

from __future__ import annotations

import re
import sqlite3
from types import SimpleNamespace

import pytest
from support.oracle import PARTS
from support.oracle_session import NAME, TABLE, WIDER, catalog_of, registered, source

from sluice.capture import reconcile
from sluice.log import record_events
from sluice.model.names import TableName
from sluice.model.watched import Pattern, Watch, WatchSettings
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.names import composed

FIRING, NOTED = [("REPL_CAP7",)], "capture/registry/note_segments"
WANTED = WatchSettings({Pattern("APP", "T"): Watch("IUD")})
# Of a table 7: the segments of a partitioned one are those of its partitions.
PLAIN, PARTED, IN_AN_INDEX = {(7, 7)}, {(70, 70), (71, 71)}, {(77, 77)}


def known(monkeypatch, **answers):
    """A source with one watched table whose trigger fires."""
    at_rest = {"registered": registered(TABLE), "firing": FIRING, "image_used": [(1,)], "altered_at": [(None,)]}
    at_rest |= {"next_key": [(70,)], "note_segments": 0, "unregister": 1, "register_again": 1}
    return source(
        monkeypatch, **catalog_of(TABLE) | {f"capture__registry__{one}": at_rest[one] for one in at_rest} | answers
    )


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"capture__registry__registered": registered(TABLE, lost="Y")}, "could not write a change"),
        ({"capture__registry__firing": []}, "gone or disabled"),
        ({"capture__registry__rewritten": [(7,)]}, "wrote its segments anew"),
        ({"capture__registry__restored": [("BIN$x==$0", "APP", "T")]}, "came back from the recycle bin"),
    ],
)
def test_a_table_is_lost_for_a_reason_and_known_again_once_that_was_told(monkeypatch, answers, why):
    session, capture, _ = known(monkeypatch, **answers)
    with record_events() as lines:
        assert capture.silenced() == [NAME]
    assert any(why in line and "table=APP.T" in line for _, line in lines)
    capture.install({NAME: Watch("IUD")}, WANTED)
    assert next(given for given in session.given if given and "lost" in given)["lost"] == "N"
    assert session.values_of(NOTED) == [{"relation": 7}]
    dropped = [one for one in session.said if one.startswith("DROP TRIGGER")]
    assert dropped == (['DROP TRIGGER "REPL"."BIN$x==$0"'] if "restored" in str(answers) else [])


def test_segments_are_compared_once_a_minute_and_after_each_look_at_definitions(monkeypatch):
    session, capture, _ = known(monkeypatch, capture__registry__rewritten=[(7,)])
    for looks, act in ((1, capture.silenced), (1, capture.silenced), (2, capture.poll_ddl)):
        act()
        assert capture.silenced() == [NAME]
        assert session.said.count("capture/registry/rewritten") == looks
    # DDL of an application may note the same segments: without the lock, in another order (ORA-00060).
    noted = session.said.index(composed("capture/registry/add_segments", **PARTS))
    assert session.said[noted - 1] == composed("capture/registry/lock_segments", **PARTS)
    capture.install({NAME: Watch("IUD")}, WANTED)
    session.answers["capture/registry/rewritten"] = []
    assert capture.silenced() == []


def test_a_loss_that_was_not_told_yet_is_kept(monkeypatch):
    session, capture, _ = known(monkeypatch, capture__registry__rewritten=[(7,)])
    capture.install({NAME: Watch("IUD")}, WANTED)
    assert next(given for given in session.given if given and "lost" in given)["lost"] == "Y"
    assert session.values_of(NOTED) == []


@pytest.mark.parametrize("told", [True, False])
def test_a_loss_that_a_trigger_notes_while_its_table_is_looked_at_is_kept(monkeypatch, told):
    session, capture, _ = known(monkeypatch, capture__registry__firing=[], capture__registry__lock_lost=[("Y",)])
    if told:
        capture.silenced()
    capture.install({NAME: Watch("IUD")}, WANTED)
    (written,) = session.values_of("capture/registry/register_again")
    assert written["lost"] == "Y"
    # The row stays, and stays locked: a trigger that waits for it finds it, and marks it afterwards.
    begin = session.said.index("capture/registry/lock_lost")
    # DDL of an application changes segments, and may mark the table afterwards: the same order makes no deadlock.
    locks = [one for one in session.said[:begin] if "IN EXCLUSIVE MODE" in one]
    assert locks == ([composed("capture/registry/lock_segments", **PARTS)] if told else [])
    end = session.said.index("capture/registry/register_again")
    assert not {"COMMIT", "capture/registry/unregister"} & set(session.said[begin:end])


def test_a_look_at_one_table_that_was_altered_keeps_what_was_noted_of_it_meanwhile(monkeypatch):
    session, capture, _ = known(monkeypatch, **catalog_of(WIDER), capture__registry__lock_lost=[("Y",)])
    capture.poll_ddl()
    assert [given["lost"] for given in session.values_of("capture/registry/register_again")] == ["Y"]


def test_a_look_knows_new_partitions_and_drops_restored_triggers_of_tables_that_are_not_watched(monkeypatch):
    found = [("BIN$x==$0", "APP", "T"), ("BIN$y==$0", "APP", "GONE")]
    session, capture, _ = known(monkeypatch, capture__registry__restored=found)
    capture.poll_ddl()
    assert [one for one in session.said if one.startswith("DROP")] == ['DROP TRIGGER "REPL"."BIN$y==$0"']
    assert composed("capture/registry/add_segments", **PARTS) in session.said


@pytest.mark.parametrize(("now", "lost"), [(("CHAR", 9), "Y"), (("VARCHAR2", 30), "N")])
def test_a_table_whose_values_were_filled_up_with_blanks_is_lost(monkeypatch, now, lost):
    (kind, length) = now
    wider = CapturedTable(NAME, 7, (TABLE.columns[0], OracleColumn("V", kind, length=length, chars=length)), ("ID",))
    session, capture, _ = known(monkeypatch, **catalog_of(wider))
    capture.poll_ddl()
    assert next(given for given in session.given if given and "lost" in given)["lost"] == lost


@pytest.mark.parametrize("answers", [{"registered": registered(TABLE, lost="Y")}, {"firing": []}])
def test_after_a_gap_a_table_waits_for_whoever_wrote_in_it(monkeypatch, answers):
    """What is uncommitted then is neither in the queue nor in the snapshot of the initial update that follows."""
    session, capture, _ = known(monkeypatch, **{f"capture__registry__{one}": answers[one] for one in answers})
    capture.silenced()
    capture.install({NAME: Watch("IUD")}, WANTED)
    made = next(place for place, one in enumerate(session.said) if 'TRIGGER "REPL"."REPL_CAP7"\nFOR' in one)
    assert made < session.said.index('LOCK TABLE "APP"."T" IN SHARE MODE WAIT 60')


def test_a_trigger_that_gets_another_name_fires_on(monkeypatch):
    session, capture, _ = known(monkeypatch)
    capture.install({NAME: Watch("IUD", "MINE")}, WANTED)
    renamed = session.said.index('ALTER TRIGGER "REPL"."REPL_CAP7" RENAME TO "MINE"')
    made = next(place for place, one in enumerate(session.said) if 'TRIGGER "REPL"."MINE"\nFOR' in one)
    assert renamed < made
    assert not any(one.startswith(("DROP TRIGGER", 'LOCK TABLE "APP"')) for one in session.said)


def catalog_named(tables):
    """What the catalog says of tables of the same columns, by their names: their numbers."""
    return catalog_of(TABLE) | {
        "catalog__table": lambda values: (
            [(tables[values["name"]], "N", "NO", "NO")] if values["name"] in tables else []
        ),
        "catalog__eligible": [("APP", name) for name in tables],
    }


def firing_at_the_end(session):
    """The triggers that fire, by their tables."""
    found = {}
    for one in session.said:
        if made := re.search(r'TRIGGER "REPL"\."(\w+)"\nFOR .* ON "APP"\."(\w+)"', one):
            found[made[1]] = made[2]
        elif dropped := re.fullmatch(r'DROP TRIGGER "REPL"\."(\w+)"', one):
            found.pop(dropped[1], None)
    return {table: trigger for trigger, table in found.items()}


def test_a_table_that_is_renamed_and_watched_at_once_has_a_trigger(monkeypatch):
    session, capture, _ = known(monkeypatch, **catalog_named({"RENAMED": 7}))
    renamed = TableName("APP", "RENAMED")
    done = capture.install({renamed: Watch("IUD")}, WatchSettings({Pattern("APP", "RENAMED"): Watch("IUD")}))
    assert (done.added, done.removed) == ((renamed,), (NAME,))
    assert firing_at_the_end(session) == {"RENAMED": "REPL_CAP7"}


@pytest.mark.parametrize("by_publisher", [True, False])
def test_tables_that_exchange_their_names_both_have_a_trigger_and_are_lost(monkeypatch, by_publisher):
    second = [("APP", "S", *row[2:3], "REPL_CAP8", *row[4:8], 8, *row[9:]) for row in registered(TABLE)]
    session, capture, _ = known(
        monkeypatch,
        **catalog_named({"T": 8, "S": 7}),
        capture__registry__registered=[*registered(TABLE), *second],
        capture__registry__lock_lost=[("N",)],
        capture__registry__firing=[("REPL_CAP7",), ("REPL_CAP8",)],
    )
    if by_publisher:
        capture.poll_ddl()
    else:
        capture.install({NAME: Watch("IUD"), TableName("APP", "S"): Watch("IUD")}, WANTED)
    assert firing_at_the_end(session) == {"T": "REPL_CAP8", "S": "REPL_CAP7"}
    assert [given["lost"] for given in session.values_of("capture/registry/register_again")] == ["Y", "Y"]


@pytest.mark.parametrize(("actions", "lost"), [("IUD", [{"relation": 7}]), ("NONE", [])])
def test_a_table_that_becomes_one_that_cannot_be_watched_is_lost_and_holds_nobody_up(monkeypatch, actions, lost):
    """Such as one on which somebody makes a materialized view: its trigger fires on, and the other tables go on."""
    second = [("APP", "S", *row[2:3], "REPL_CAP8", *row[4:8], 8, *row[9:]) for row in registered(TABLE)]
    session, capture, _ = known(
        monkeypatch,
        **catalog_named({"T": 7, "S": 9}),
        catalog__unwatchable=lambda values: [("the rows of a view",)] if values["name"] == "T" else [],
        capture__registry__registered=[(*row[:2], actions, *row[3:]) for row in registered(TABLE)] + second,
        capture__registry__lose=1,
    )
    with record_events() as lines:
        capture.poll_ddl()
    assert session.values_of("capture/registry/lose") == lost
    assert any("not watched as it is now" in line and "table=APP.T" in line for _, line in lines)
    assert firing_at_the_end(session) == {"S": "REPL_CAP9"}
    assert 'DROP TRIGGER "REPL"."REPL_CAP7"' not in session.said
    session.answers["capture/registry/firing"] = []
    context = SimpleNamespace(watched_tables=lambda _: {NAME: Watch("IUD")}, watch_settings=lambda _: WANTED)
    broken = []
    monkeypatch.setattr(reconcile, "leave_out", lambda *told, **_: broken.append(told[1]))
    with record_events() as lines:
        reconcile.heal(context, "app", SimpleNamespace(capture=capture))
    assert broken == ["app"]
    assert any("not watched again" in line and "SLC-477" in line for _, line in lines)


def test_the_trigger_of_a_table_that_was_replaced_makes_room_for_its_namesake(monkeypatch):
    other = CapturedTable(NAME, 8, TABLE.columns, TABLE.key)
    mine = [(*row[:3], "MINE", *row[4:]) for row in registered(TABLE)]
    session, capture, _ = known(monkeypatch, **catalog_of(other), capture__registry__registered=mine)
    capture.poll_ddl()
    made = next(place for place, one in enumerate(session.said) if 'TRIGGER "REPL"."MINE"\nFOR' in one)
    assert session.said.index('DROP TRIGGER "REPL"."MINE"') < made


def test_of_the_triggers_that_came_back_from_the_recycle_bin_those_of_others_stay(monkeypatch):
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE user_triggers (trigger_name, table_owner, table_name)")
    database.execute("CREATE TABLE user_dependencies (name, type, referenced_owner, referenced_name)")
    calls = {
        "BIN$ours==$0": ("REPL", "REPL_LOSE"),
        "BIN$application==$0": ("APP", "AUDIT"),
        "BIN$namesake==$0": ("APP", "REPL_LOSE"),
        "BIN$another_prefix==$0": ("REPL", "OTHER_LOSE"),
    }
    for name, called in calls.items():
        database.execute("INSERT INTO user_triggers VALUES (?, 'APP', 'GONE')", [name])
        for needed in (("SYS", "STANDARD"), called):
            database.execute("INSERT INTO user_dependencies VALUES (?, 'TRIGGER', ?, ?)", [name, *needed])
    database.execute("INSERT INTO user_triggers VALUES ('BIN$alone==$0', 'APP', 'GONE')")
    session, capture, _ = known(
        monkeypatch,
        capture__registry__restored=lambda values: said(database, "capture/registry/restored", values),
    )
    capture.poll_ddl()
    assert [one for one in session.said if one.startswith("DROP")] == ['DROP TRIGGER "REPL"."BIN$ours==$0"']


def test_a_table_that_can_be_flashed_back_is_remarked_upon(monkeypatch):
    _, capture, _ = known(monkeypatch, catalog__row_movement=[("ENABLED",)])
    assert "FLASHBACK TABLE can change its rows" in capture.remarks({NAME: Watch("")})[0]
    _, capture, _ = known(monkeypatch, catalog__row_movement=[("DISABLED",)])
    assert capture.remarks({NAME: Watch("")}) == []


def catalog(segments, relation=7):
    """The part of the catalog that a table takes, in a database that reads our statements, too."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE repl_tables (relid, schemaname, tablename)")
    database.execute("CREATE TABLE repl_segments (relid, object_id, data_object_id)")
    database.execute("CREATE TABLE dba_objects (owner, object_name, object_type, object_id, data_object_id)")
    database.execute("CREATE TABLE all_indexes (owner, index_name, index_type, table_owner, table_name)")
    said(database, "capture/install/080_stored")
    database.execute("INSERT INTO repl_tables VALUES (?, 'APP', 'T')", [relation])
    database.execute(
        "INSERT INTO all_indexes VALUES ('APP', 'K', 'IOT - TOP', 'APP', 'T'), ('APP', 'X', 'NORMAL', 'APP', 'T')"
    )
    become(database, segments)
    return database


def become(database, segments):
    """The catalog has these segments now; objects without one are in it, too."""
    database.execute("DELETE FROM dba_objects")
    kinds = {7: ("T", "TABLE"), 77: ("K", "INDEX")}
    rows = [("APP", *kinds.get(one, ("T", "TABLE PARTITION")), one, data) for one, data in segments]
    rows += [("APP", "X", "INDEX", 99, 100), ("OTHER", "T", "TABLE", 98, 101), ("APP", "T", "TABLE", 6, None)]
    database.executemany("INSERT INTO dba_objects VALUES (?, ?, ?, ?, ?)", rows)


def said(database, name, values=()):
    """The rows of one of our statements, but for what is Oracle's own of it."""
    text = composed(name, **PARTS).replace('"REPL".', "").replace("sys.", "").replace("OR REPLACE ", "")
    return database.execute(text, values).fetchall()


@pytest.mark.parametrize(
    ("before", "now", "is_lost"),
    [
        pytest.param(PLAIN, PLAIN, False, id="nothing"),
        pytest.param(PLAIN, {(7, 12)}, True, id="TRUNCATE, also by CASCADE, or the table of an EXCHANGE"),
        pytest.param(IN_AN_INDEX, {(77, 120)}, True, id="TRUNCATE of a table in an index"),
        pytest.param(PARTED, {(70, 70), (71, 80)}, True, id="TRUNCATE or EXCHANGE of a partition"),
        pytest.param(PARTED, {(70, 70)}, True, id="DROP of a partition"),
        pytest.param(PARTED, PARTED | {(72, 72)}, False, id="ADD of a partition"),
        pytest.param(PARTED, PARTED | {(72, 7)}, True, id="ADD of a partition, and EXCHANGE"),
        pytest.param(PARTED, set(), False, id="DROP of the table"),
    ],
)
def test_segments_tell_what_no_trigger_of_rows_saw(before, now, is_lost):
    database = catalog(before)
    said(database, "capture/registry/add_segments")
    assert said(database, "capture/registry/rewritten") == []
    become(database, now)
    # A new partition is known from the next look on, so its end is seen; what an EXCHANGE put there stays unknown.
    said(database, "capture/registry/add_segments")
    assert bool(said(database, "capture/registry/rewritten")) == is_lost
    become(database, before)
    assert bool(said(database, "capture/registry/rewritten")) == (now > before and not is_lost)


def test_segments_of_a_table_that_was_there_before_they_were_recorded_are_taken_as_they_are():
    database = catalog({(7, 12)})
    assert said(database, "capture/registry/rewritten") == []
    said(database, "capture/registry/add_segments")
    assert database.execute("SELECT * FROM repl_segments").fetchall() == [(7, 7, 12)]
    database.execute("DELETE FROM repl_tables")
    said(database, "capture/registry/forget_segments")
    assert database.execute("SELECT * FROM repl_segments").fetchall() == []
