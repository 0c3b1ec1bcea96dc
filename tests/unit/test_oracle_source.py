"""A source on Oracle, from our side: its statements to the letter, their order, and what becomes of the answers."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from support.oracle import PARTS, RESOURCES, running
from support.oracle_session import (
    INFO,
    NAME,
    PURGE,
    STATE,
    TABLE,
    WIDER,
    catalog_of,
    layouts,
    registered,
    source,
)

from sluice.changelog.schema import SWEPT
from sluice.config.slave import Slave
from sluice.config.source import SourceSettings
from sluice.errors import VALUES_ENV, AlteredMeanwhile, ConfigError, FencedError, SluiceError, StrangeSource
from sluice.model.unwatched import UnwatchedReason
from sluice.model.watched import Pattern, Watch, WatchSettings
from sluice.vendors.oracle.capture.queue.changes import Changes, Item
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.recorded import RecordedTable, columns_text, layout_of
from sluice.vendors.oracle.read.snapshot import OracleSnapshot
from sluice.vendors.protocol.read import KeyRange
from sluice.vendors.protocol.sweep import Purge
from sluice.vendors.registry import master

GOLDEN = Path(__file__).parents[1] / "golden" / "oracle_running.sql"

# No LONG and no added column is read.
READERS = (lambda *_: None, lambda *_: None)


def image(**cells):
    return "".join(f'<col name="{name}">{text}</col>' for name, text in cells.items())


ROWS = [
    (52, "1.2.3", 50, 7, "INSERT", None, image(ID="1", V="a"), None),
    (52, "1.2.3", 52, 7, "UPDATE", None, image(ID="1", V="b"), image(ID="1", V="a")),
    (53, "9.9.9", 53, 7, "TRUNCATE", None, None, "TRUNCATE TABLE t"),
]


def test_the_statements_of_a_running_source_are_those_that_were_reviewed():
    written = "\n/\n".join(f"-- {name}\n{text}" for name, text in running().items())
    assert written + "\n" == GOLDEN.read_text(encoding="utf-8")


def test_a_sweep_gives_what_is_queued_and_purges_exactly_that(monkeypatch):
    answers = {"capture/queue/sweep": ROWS, "capture/registry/layouts": layouts((40, TABLE))}
    session, capture, _ = source(monkeypatch, **answers)
    with capture.sweep(3, None) as sweep:
        (batch,) = sweep.batches()
        assert sweep.snapshot.text == "900:1.2.3"
        assert (sweep.state.incarnation, sweep.state.segment, sweep.state.sha256) == ("INC", 5, "")
        sweep.make_durable()
        sweep.purge(Purge(6, "ab"), 3)
    assert batch.schema == SWEPT
    assert batch.column("trans_key").to_pylist() == ["900/1.2.3", "900/1.2.3", "900/9.9.9"]
    assert batch.column("action").to_pylist() == ["I", "U", "T"]
    assert batch.column("new").to_pylist() == [["1", "a"], ["1", "b"], None]
    assert sweep.layouts() == {40: layout_of(TABLE, 40)}
    assert session.values_of(PURGE) == [[(50, "1.2.3"), (52, "1.2.3"), (53, "9.9.9")]]
    end = session.said[session.said.index("capture/registry/lock_state") :]
    assert end[1] == PURGE
    assert end[-1] == "COMMIT"
    assert {"segment": 6, "sha256": "ab"} in session.given


@pytest.mark.parametrize(
    ("answers", "changes", "code"),
    [
        ({PURGE: 2}, 3, 68),
        ({}, 4, 68),
        ({"capture/registry/lock_state": [(4,)]}, 3, 50),
    ],
)
def test_a_purge_that_is_not_exact_or_comes_too_late_is_rolled_back(monkeypatch, answers, changes, code):
    answers = {"capture/queue/sweep": ROWS, "capture/registry/layouts": layouts((40, TABLE)), **answers}
    session, capture, _ = source(monkeypatch, **answers)
    with capture.sweep(3, None) as sweep:
        list(sweep.batches())
        with pytest.raises(SluiceError) as error:
            sweep.purge(Purge(6, "ab"), changes)
    assert error.value.code == code
    assert "COMMIT" not in session.said


def test_a_slice_ends_where_the_bound_is_reached(monkeypatch):
    answers = {"capture/queue/slice": [(52,)], "capture/queue/beyond": [(1,)]}
    session, capture, _ = source(monkeypatch, **answers)
    with capture.sweep(3, 2, "700:4.5.6") as sweep:
        assert sweep.more
        assert list(sweep.batches()) == []
    assert session.values_of("capture/queue/slice") == [{"scn": 900, "shown": 700, "most": 2}]
    assert session.values_of("capture/queue/sweep") == [{"scn": 900, "shown": 700, "last_key": 52}]


def test_a_later_publisher_fences_out_an_earlier_one(monkeypatch):
    _, capture, _ = source(monkeypatch)
    capture.take_over(4)
    for attempt in (lambda: capture.take_over(2), lambda: capture.heal(9, Purge(1, "x"), [])):
        with pytest.raises(FencedError):
            attempt()
    with pytest.raises(FencedError), capture.sweep(2, None):
        pass


def test_what_was_listed_and_not_purged_is_purged_by_key_or_not_at_all(monkeypatch):
    session, capture, _ = source(monkeypatch)
    some = {"keys": [50, 52], "transactions": ["900/1.2.3", "900/1.2.3"]}
    assert capture.heal(3, Purge(6, "ab"), [some])
    assert session.values_of(PURGE) == [[(50, "1.2.3"), (52, "1.2.3")]]
    session, capture, _ = source(monkeypatch, **{PURGE: 1})
    assert not capture.heal(3, Purge(6, "ab"), [some])
    assert session.said[-1] == "ROLLBACK"


def test_a_source_is_claimed_by_one_store(monkeypatch):
    session, capture, _ = source(monkeypatch, **{"capture/registry/claim": 1})
    capture.claim("ours")
    assert session.values_of("capture/registry/claim") == [{"store": "ours", "holder": "NONE"}]
    session, capture, _ = source(monkeypatch, **{STATE: [("INC", 5, "x", 3, 1, "other")], "capture/registry/claim": 1})
    with pytest.raises(StrangeSource):
        capture.claim("ours")
    capture.claim("ours", by_force=True)


def test_images_are_read_by_the_columns_that_they_name(monkeypatch):
    known = {7: [RecordedTable(40, TABLE), RecordedTable(60, WIDER)]}
    changes = Changes(900, known, *READERS, (), bool, int, PARTS["items"])
    late = image(ID="1", V="b", D="2024-02-29 12:00:00.000000000")
    # The older trigger fires for a while after the columns were recorded, and the newer one never before.
    items = [Item(61, "1.2.3", 61, 7, "INSERT", None, image(ID="1", V="a"), None)]
    items += [Item(62, "1.2.3", 62, 7, "INSERT", None, late, None)]
    batch, _ = changes.batch(items)
    assert batch.column("layout").to_pylist() == [40, 60]
    assert batch.column("new").to_pylist()[1] == ["1", "b", "2024-02-29 12:00:00"]
    for relation, wrong in ((7, image(ID="1", X="a")), (7, "<col"), (7, None), (8, late)):
        with pytest.raises(SluiceError) as error:
            changes.batch([Item(63, "1.2.3", 63, relation, "INSERT", None, wrong, None)])
        assert error.value.code == 68
        assert "cannot be read" in error.value.fact


def test_a_value_that_is_none_of_its_column_is_said_only_on_request(monkeypatch):
    spans = OracleColumn("S", "INTERVAL DAY(2) TO SECOND(6)", precision=2, scale=6)
    table = CapturedTable(NAME, 7, (*WIDER.columns, spans), ("ID",))
    changes = Changes(900, {7: [RecordedTable(60, table)]}, *READERS, (), bool, int, PARTS["items"])
    for values, (day, span) in itertools.product(("", "1"), (("canary", "1 0"), ("2024-02-29 00:00:00", "1 canary"))):
        monkeypatch.setenv(VALUES_ENV, values)
        with pytest.raises(SluiceError, match=r"SLC-068: .*cannot be read") as error:
            changes.batch([Item(63, "1.2.3", 63, 7, "INSERT", None, image(ID="1", V="b", D=day, S=span), None)])
        assert ("canary" in str(error.value)) == bool(values)


def test_notes_of_definitions_are_no_changes_and_wait_for_a_look(monkeypatch):
    note = Item(61, "1.2.3", 61, 7, "ALTER", None, None, "ALTER TABLE t ADD d DATE")
    seen = Changes(900, {}, *READERS, {61}, bool, int, PARTS["items"])
    batch, notes = seen.batch([note])
    assert (len(batch), notes) == (0, 1)
    with pytest.raises(AlteredMeanwhile):
        Changes(900, {}, *READERS, {60}, bool, int, PARTS["items"]).batch([note])
    row = (61, "1.2.3", 61, 7, "DROP", None, None, "DROP TABLE")
    session, capture, _ = source(monkeypatch, **{"capture/queue/sweep": [row]})
    with capture.sweep(3, None) as sweep:
        assert list(sweep.batches()) == []
    assert session.values_of(PURGE) == [[(61, "1.2.3")]]


def test_a_source_is_installed_once_and_a_table_is_locked_but_for_a_moment(monkeypatch):
    wanted = WatchSettings({Pattern("APP", "T"): Watch("IUD"), Pattern("APP", "GONE"): Watch("IUD")})
    more = {"capture__registry__image_used": [(0,)], "capture__registry__next_key": [(41,)]}
    session, capture, _ = source(monkeypatch, **catalog_of(TABLE), **more)
    done = capture.install({NAME: Watch("IUD")}, wanted)
    assert (done.added, done.stages) == ((NAME,), ((NAME,),))
    assert [(one.name.table, one.reason) for one in done.unwatched] == [("GONE", UnwatchedReason.MISSING)]
    trigger = next(place for place, one in enumerate(session.said) if 'TRIGGER "REPL"."REPL_CAP7"' in one)
    lock = session.said.index('LOCK TABLE "APP"."T" IN SHARE MODE WAIT 60')
    recorded = next(
        place for place, one in enumerate(session.said) if one.startswith("INSERT INTO " + PARTS["layouts"])
    )
    assert recorded < trigger < lock
    assert session.said[lock + 1] == "COMMIT"
    same = {"capture__registry__registered": registered(TABLE)}
    session, capture, _ = source(monkeypatch, **catalog_of(TABLE), **same, capture__registry__firing=[("REPL_CAP7",)])
    assert capture.install({NAME: Watch("")}, wanted).added == ()
    assert not [one for one in session.said if 'LOCK TABLE "APP"' in one or 'TRIGGER "REPL"."REPL_CAP7"' in one]


def test_a_column_that_was_added_holds_from_the_command_on(monkeypatch):
    more = {"capture__registry__registered": registered(TABLE), "capture__registry__image_used": [(0,)]}
    more |= {"capture__registry__altered_at": [(55,)], "capture__queue__noted": [(55,)]}
    session, capture, _ = source(monkeypatch, **catalog_of(WIDER), **more)
    capture.poll_ddl()
    added = next(given for given in session.given if given and "layout" in given and "columns" in given)
    assert (added["layout"], added["columns"]) == (55, columns_text(WIDER))
    # The function of the older trigger stays until the new one is there.
    assert any('FUNCTION "REPL"."REPL_IMG7"' in one for one in session.said)
    assert not any('LOCK TABLE "APP"' in one for one in session.said)
    count = len(session.said)
    capture.poll_ddl()
    assert len(session.said) == count + 1


def test_a_column_that_cannot_be_captured_stops_nobody_and_is_refused_by_bootstrap(monkeypatch):
    odd = CapturedTable(NAME, 7, (*TABLE.columns, OracleColumn("F", "BFILE")), ("ID",))
    more = {"capture__registry__registered": registered(TABLE), "capture__registry__image_used": [(0,)]}
    session, capture, _ = source(monkeypatch, **catalog_of(odd), **more)
    capture.poll_ddl()
    assert not any("TRIGGER" in one for one in session.said)
    with pytest.raises(SluiceError) as error:
        capture.install({NAME: Watch("IUD")}, WatchSettings({Pattern("APP", "T"): Watch("IUD")}))
    assert error.value.code == 477


def test_a_table_that_was_made_anew_under_its_name_is_lost_and_one_that_is_gone_is_released(monkeypatch):
    other = CapturedTable(NAME, 8, TABLE.columns, TABLE.key)
    more = {"capture__registry__registered": registered(TABLE), "capture__registry__image_used": [(0,)]}
    more |= {"capture__registry__altered_at": [(None,)], "capture__registry__next_key": [(70,)]}
    session, capture, _ = source(monkeypatch, **catalog_of(other), **more)
    capture.poll_ddl()
    assert next(given for given in session.given if given and "lost" in given)["lost"] == "Y"
    session, capture, _ = source(monkeypatch, **more, **{"catalog/table": []})
    capture.poll_ddl()
    assert 'DROP TRIGGER "REPL"."REPL_CAP7"' in session.said


@pytest.mark.parametrize(
    ("rows", "firing"),
    [(registered(TABLE, lost="Y"), [("REPL_CAP7",)]), (registered(TABLE), [])],
)
def test_a_table_whose_changes_are_not_known_is_told_and_then_begun_anew(monkeypatch, rows, firing):
    more = {"capture__registry__registered": rows, "capture__registry__firing": firing}
    session, capture, _ = source(monkeypatch, **catalog_of(TABLE), **more, capture__registry__image_used=[(0,)])
    assert capture.silenced() == [NAME]
    capture.install({NAME: Watch("IUD")}, WatchSettings({Pattern("APP", "T"): Watch("IUD")}))
    assert next(given for given in session.given if given and "lost" in given)["lost"] == "N"


def test_everything_of_ours_is_removed_and_nothing_of_others(monkeypatch):
    kinds = [
        ("TABLE", "REPL_ITEMS"),
        ("TRIGGER", "REPL_CAP7"),
        ("FUNCTION", "REPL_IMH7"),
        ("JOB", "REPL_JOB"),
    ]
    found = [(kind, name, "VALID") for kind, name in [*kinds, ("TABLE", "REPL_OTHERS"), ("INDEX", "REPL_ITEMS_KEY")]]
    session, capture, _ = source(monkeypatch, **{"catalog/objects": found})
    asked = []
    removed = capture.remove(lambda: asked.append(len(session.said)))
    assert removed == [
        "TRIGGER REPL.REPL_CAP7",
        "JOB REPL.REPL_JOB",
        "FUNCTION REPL.REPL_IMH7",
        "TABLE REPL.REPL_ITEMS",
    ]
    assert asked == [1]


def test_the_script_of_rights_is_for_the_user_of_the_connection(monkeypatch):
    _, capture, _ = source(monkeypatch)
    script = capture.grants([NAME])
    assert script.endswith(';\nGRANT SELECT, FLASHBACK ON "APP"."T" TO "REPL"')
    assert ";;" not in f"{script};"


def test_a_configuration_names_such_a_source_and_such_a_slave():
    given = {"connection": "sales", "vendor": "oracle", "tables": {"APP.T": {}}}
    assert SourceSettings.model_validate(given).capture == "triggers"
    assert Slave.model_validate({"connection": "sales", "vendor": "oracle"}).keeps == "rows"


def test_features_that_are_not_there_are_refused_by_name(monkeypatch):
    _, capture, _ = source(monkeypatch)
    made = master("oracle")
    refusals = {
        "SLC-438: .* cannot be captured by log": lambda: made.source(INFO, None, "REPL_", (), "log", None),
        "SLC-438: a drain with `block_loop`": lambda: capture.install({}, WatchSettings(drained_into=True)),
        "SLC-577": lambda: capture.understands("SELECT 1"),
        "SLC-099: .* by ranges of keys": lambda: OracleSnapshot(None, [], None).expect_bounds(
            KeyRange(0, NAME, "", first=("1",))
        ),
    }
    for error, attempt in refusals.items():
        with pytest.raises((SluiceError, ConfigError), match=error):
            attempt()
    assert made.source(INFO, None, "REPL_", (), "triggers", None).capture.backlog() is None
    assert made.resources(None, "REPL_") == RESOURCES
