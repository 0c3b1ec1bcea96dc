"""What a server's log has, decoded: every type and value of a real server, compared with SELECT.

No GaussDB runs here. `test_decoding`, which `mppdb_decoding` was made from, prints format `t`; `j` and `b` are written
from the document, with the changes that the server printed.
"""

from __future__ import annotations

import re
from dataclasses import replace

import psycopg
import pytest
from psycopg import sql
from support import decoding
from support.decoding import Cell, Change, Transaction
from support.exactly import text_of
from support.older import OLDEST, SERVER_ENV, Installed
from support.places import reserve_port, server_directory
from support.values import GROUPS

from sluice.model.names import TableName
from sluice.vendors.gaussdb.capture.slot.records import Begin, Commit, Message
from sluice.vendors.gaussdb.capture.slot.text import TextDecoder
from sluice.vendors.postgresql.session import PINNED

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(not OLDEST.exists(), reason=f"there is no {OLDEST}: install the package postgresql-15"),
]
SLOT = "decoded"


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A session of the superuser, on a server that logs what decoding needs, with a slot."""
    with server_directory(tmp_path_factory.mktemp("logical")) as directory, pytest.MonkeyPatch.context() as patched:
        patched.setenv(SERVER_ENV, str(OLDEST))
        cluster = Installed(directory)
        cluster.start("fsync = off\nwal_level = logical\nmax_replication_slots = 4", reserve_port())
        with cluster.admin() as opened:
            opened.autocommit = True
            for setting, value in PINNED.items():
                opened.execute(sql.SQL("SET {} = {}").format(sql.Identifier(setting), value))
            opened.execute("SET search_path = public")
            opened.execute("SELECT pg_create_logical_replication_slot(%s, 'test_decoding')", [SLOT])
            yield opened
        cluster.remove()


def lines(session, **options):
    """What the slot has, as (LSN, line), under the names of options with their underscores."""
    given = [part for name, value in options.items() for part in (name.replace("_", "-"), value)]
    return session.execute(
        "SELECT lsn - '0/0', data FROM pg_logical_slot_get_changes(%s, NULL, NULL, VARIADIC %s::text[])", [SLOT, given]
    ).fetchall()


def decode(session, **options):
    """The same, decoded."""
    reader = TextDecoder()
    for place, line in lines(session, **options):
        reader.feed(line.encode(), int(place))
    reader.records.expect_whole()
    return reader.taken()


def typed(session, values):
    """The types of this server, each with those of the values that it takes, as it prints them."""
    found = {}
    for kind, texts in values.items():
        printed = []
        for text in texts:
            try:
                cast = sql.SQL("SELECT {}::{}::text").format(text, sql.SQL(kind))
                printed.append(session.execute(cast).fetchone()[0])
            except (psycopg.errors.DataError, psycopg.errors.UndefinedObject):
                # What later versions have: infinite intervals.
                assert "infinity" in text or "P-1Y" in text, (kind, text)
        found[kind] = printed
    return found


@pytest.mark.full(but=["places", "sets", "times", "trees"])
@pytest.mark.parametrize("group", GROUPS)
def test_every_value_of_every_type_is_decoded_as_select_shows_it(session, group):
    values = typed(session, GROUPS[group])
    columns = ", ".join(f"c{number} {kind}" for number, kind in enumerate(values))
    name = f"of_{group}"
    session.execute(f"CREATE TABLE {name} (id int PRIMARY KEY, {columns})")
    session.execute(f"ALTER TABLE {name} REPLICA IDENTITY FULL")
    names = ["id", *(f"c{number}" for number in range(len(values)))]
    lines(session)
    places = ", ".join(f"%s::{kind}" for kind in values)
    # Twice, so that more rows are of one form than are needed to know it.
    for base in (0, 100):
        for number in range(max(map(len, values.values())) + 1):
            row = [texts[number] if number < len(texts) else None for texts in values.values()]
            session.execute(f"INSERT INTO {name} VALUES (%s, {places})", [base + number, *row])
    printed = sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(map(text_of, names)), sql.Identifier(name))
    shown = {row[0]: list(row) for row in session.execute(printed)}
    session.execute(f"UPDATE {name} SET id = id + 1000")
    session.execute(f"DELETE FROM {name}")
    found = decode(session)
    by_action = {action: [] for action in "IUD"}
    for row in found.changes.to_pylist():
        by_action[row["action"]].append((found.forms[row["form"]], row))
    inserted = [row["new"] for _, row in by_action["I"]]
    assert {row[0]: row for row in inserted} == shown
    assert [field.name for field in by_action["I"][0][0].new] == names
    kinds = session.execute(
        "SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0", [name]
    )
    assert [field.type for field in by_action["I"][0][0].new] == [kind for (kind,) in kinds]
    moved = {str(int(key) + 1000): [str(int(key) + 1000), *row[1:]] for key, row in shown.items()}
    for action, before in (("U", shown), ("D", moved)):
        assert len(by_action[action]) == len(shown)
        for form, row in by_action[action]:
            said = dict(zip([field.name for field in form.old], row["old"], strict=True))
            # The server leaves out what is null.
            assert [said.get(one) for one in names] == before[row["old"][0]]
            assert None not in row["old"]
    assert {row["new"][0]: row["new"] for _, row in by_action["U"]} == moved
    written_otherwise(found)


WORDINGS = (*((format, batched, False) for format in "tjb" for batched in (False, True)), ("t", True, True))


def written_otherwise(found, wordings=WORDINGS):
    """The other formats have the same changes, and so have batches and the words of parallel decoding."""
    given = [replace(one, csn=7 + number) for number, one in enumerate(decoding.understood(found))]
    for format, batched, dotted in wordings:
        sent = decoding.statements(format, given, dotted)
        again = decoding.understood(decoding.decoded(format, batched, decoding.messages(format, sent, batched, 10_000)))
        assert stripped(again, format == "b") == stripped(given, format == "b"), format


def stripped(transactions, of_types):
    """The same without what one of the sides does not say."""
    changes = [change for one in transactions for change in one.changes]
    if of_types:
        changes = [
            replace(change, **{side: without_types(getattr(change, side)) for side in ("new", "old")})
            for change in changes
        ]
    return [(one.xid, one.csn) for one in transactions], changes


def without_types(image):
    return None if image is None else tuple(replace(cell, type="") for cell in image)


def test_names_that_have_to_be_quoted_are_names(session):
    session.execute('CREATE SCHEMA "Odd sch.ema"')
    session.execute("""CREATE TYPE "Odd sch.ema"."a ]: 'type" AS ENUM ('x', 'it''s')""")
    table = '"Odd sch.ema"."t"" INSERT: [x]"'
    session.execute(f"""CREATE TABLE {table} ("a[integer]:1" int PRIMARY KEY, "select" "Odd sch.ema"."a ]: 'type",
        "é" "Odd sch.ema"."a ]: 'type"[], "new-tuple:" text)""")
    lines(session)
    for key in (1, 2, 3):
        session.execute(f"INSERT INTO {table} VALUES ({key}, 'it''s', '{{x}}', 'old-key: new-tuple: (no-tuple-data)')")
    session.execute(f'UPDATE {table} SET "a[integer]:1" = "a[integer]:1" + 10')
    found = decode(session)
    form = found.forms[0]
    assert form.table == TableName("Odd sch.ema", 't" INSERT: [x]')
    assert [field.name for field in form.new] == ["a[integer]:1", "select", "é", "new-tuple:"]
    assert form.new[1].type == """"Odd sch.ema"."a ]: 'type\""""
    rows = found.changes.to_pylist()
    assert [row["new"] for row in rows[:3]] == [
        [str(key), "it's", "{x}", "old-key: new-tuple: (no-tuple-data)"] for key in (1, 2, 3)
    ]
    assert [row["old"] for row in rows[3:]] == [["1"], ["2"], ["3"]]
    assert len(found.forms) == 2
    # A line of parallel decoding does not say where a name with a blank ends.
    written_otherwise(found, [one for one in WORDINGS if one[0] != "t" or one[2]])


def test_a_value_out_of_line_that_did_not_change_is_named_and_not_null(session):
    session.execute("CREATE TABLE wide (id int PRIMARY KEY, t text, n numeric, b bytea, plain int)")
    session.execute("ALTER TABLE wide ALTER t SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL")
    session.execute("ALTER TABLE wide ALTER n SET STORAGE EXTERNAL")
    lines(session)
    digits = "1234567890" * 900
    for key in (1, 2, 3):
        row = [key, "unchanged-toast-datum " * 400, digits, b"\x00\xff" * 5000]
        session.execute("INSERT INTO wide VALUES (%s, %s, %s, %s, 1)", row)
    session.execute("UPDATE wide SET plain = 2")
    session.execute("UPDATE wide SET t = 'unchanged-toast-datum', plain = NULL WHERE id < 3")
    session.execute("UPDATE wide SET plain = 3 WHERE id < 3")
    found = decode(session)
    updates = [
        (row["new"], [field.name for field in found.forms[row["form"]].unchanged])
        for row in found.changes.to_pylist()
        if row["action"] == "U"
    ]
    assert updates[:3] == [([str(key), "2"], ["t", "n", "b"]) for key in (1, 2, 3)]
    assert updates[3:5] == [([str(key), "unchanged-toast-datum", None], ["n", "b"]) for key in (1, 2)]
    assert updates[5:] == [([str(key), "unchanged-toast-datum", "3"], ["n", "b"]) for key in (1, 2)]
    # The binary format has no word for it.
    written_otherwise(found, [one for one in WORDINGS if one[0] != "b"])


def test_marks_and_changes_without_images_stand_in_their_order(session):
    session.execute("CREATE TABLE keyless (a int)")
    session.execute("CREATE TABLE columnless ()")
    lines(session)
    session.execute("SELECT pg_logical_emit_message(false, 'mine', e'it''s\n: content:')")
    with session.transaction():
        session.execute("INSERT INTO keyless VALUES (1), (2)")
        session.execute("SELECT pg_logical_emit_message(true, 'ours', 'é')")
        session.execute("INSERT INTO columnless DEFAULT VALUES")
        session.execute("DELETE FROM keyless")
        session.execute("TRUNCATE keyless, columnless RESTART IDENTITY CASCADE")
    found = decode(session, include_timestamp="1")
    rows = found.changes.to_pylist()
    forms = [found.forms[row["form"]] for row in rows]
    assert [row["action"] for row in rows] == ["I", "I", "I", "D", "D", "T", "T"]
    assert [row["new"] for row in rows] == [["1"], ["2"], [], None, None, None, None]
    assert {row["old"] is None for row in rows} == {True}
    assert [form.table.table for form in forms[5:]] == ["keyless", "columnless"]
    assert {form.clauses for form in forms[5:]} == {("restart_seqs", "cascade")}
    first, begin, second, commit = found.marks
    assert first == Message(0, False, "mine", "it's\n: content:")
    assert second == Message(2, True, "ours", "é")
    assert isinstance(begin, Begin)
    assert isinstance(commit, Commit)
    assert begin.xid == commit.xid
    assert (begin.at, commit.at) == (0, 7)
    assert re.match(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00", commit.time or "")
    assert rows[0]["lsn"] < rows[6]["lsn"] < commit.lsn


@pytest.mark.parametrize(("xids", "timestamp"), [("0", "1"), ("1", "0")])
def test_each_wording_of_begin_and_commit_is_read(session, xids, timestamp):
    session.execute("CREATE TABLE IF NOT EXISTS worded (a int)")
    lines(session)
    session.execute("INSERT INTO worded VALUES (1)")
    found = decode(session, include_xids=xids, include_timestamp=timestamp, skip_empty_xacts="1")
    begin, commit = found.marks
    assert (begin.xid is not None, commit.xid is not None, commit.time is not None) == (
        xids == "1",
        xids == "1",
        timestamp == "1",
    )


def test_the_writer_has_all_that_decoding_gives_back():
    image = (Cell("a", "integer", "1"), Cell("b", "boolean", "t"), Cell("c", "text", None))
    change = Change("public", "t", "UPDATE", image, image[:1])
    given = [Transaction(5, 6, 7, 1 << 40, (change, change, change), "2026-01-02 03:04:05.6+00", "an n: er")]
    for format in "tj":
        sent = decoding.statements(format, given)
        assert decoding.understood(decoding.decoded(format, True, decoding.messages(format, sent, True))) == given
