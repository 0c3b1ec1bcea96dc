"""A LONG of an Oracle master, which no trigger can read: which value the log has, and which tables are refused."""

from __future__ import annotations

from dataclasses import replace

import oracledb
import pytest
from support.oracle_session import ID, LONG, NAME, catalog_of, layouts, refusal, registered, source

from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.model.watched import Watch, WatchSettings
from sluice.vendors.oracle.capture.triggers import CapturedTable
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.names import composed

DAY, CODE = OracleColumn("DAY", "DATE", not_null=True), OracleColumn("CODE", "RAW", length=2, not_null=True)
IMAGE = (
    '<col name="ID">1</col><col name="DAY">2024-02-29 00:00:00.000000000</col>'
    '<col name="CODE" encoding="base64">AP8=</col>'
)
# The same key, as the server reads it.
KEY = ("1", "2024-02-29 00:00:00", b"\x00\xff")


def published_long(monkeypatch, **answers):
    """The session, and what the log has of the LONG of a row that was inserted under the table's former name."""
    columns, key = (ID, DAY, CODE, LONG), ("ID", "DAY", "CODE")
    before, now = (CapturedTable(TableName("APP", name), 7, columns, key) for name in ("FORMER", "T"))
    item = (50, "1.2.3", 50, 7, "INSERT", "AAAB", IMAGE, None)
    known = [(*layouts((40, before))[0][:3], "FORMER", *layouts((40, before))[0][4:]), *layouts((60, now))]
    session, capture, _ = source(
        monkeypatch, **{"capture/queue/sweep": [item], "capture/registry/layouts": known}, **answers
    )
    with capture.sweep(3, None, "700:") as sweep:
        return session, lambda: next(iter(sweep.batches())).column("new").to_pylist()[0][3]


def long_of(name, *, keyed=True):
    number = "TO_CHAR(kept.\"ID\", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')"
    day = "TO_CHAR(kept.\"DAY\", 'SYYYY-MM-DD HH24:MI:SS')"
    key = f', {number}, {day}, kept."CODE"' if keyed else ""
    return f'SELECT kept."L"{key} FROM "APP"."{name}" AS OF SCN :scn kept WHERE kept.ROWID = CHARTOROWID(:place)'


@pytest.mark.parametrize(
    ("found", "value"),
    [
        ([("long", *KEY)], "long"),
        ([(b"\x00\xff", *KEY)], "\\x00ff"),
        ([(None, *KEY)], None),
        # Another row has the address by then.
        ([("of another", "2", *KEY[1:])], None),
        ([("of another", *KEY[:2], b"\x00")], None),
        ([("of another", "none", *KEY[1:])], None),
        ([], None),
        (refusal("ORA-01410: invalid ROWID"), None),
    ],
)
def test_a_long_is_read_as_of_the_sweep_that_publishes_its_change(monkeypatch, found, value):
    session, published = published_long(monkeypatch)
    session.answers[long_of("T")] = found
    assert published() == value
    assert session.values_of(long_of("T")) == [{"place": "AAAB", "scn": 700}]


@pytest.mark.parametrize(
    ("names", "value"), [([], None), ([("APP", "RENAMED")], "long"), ([("APP", "T")], refusal("ORA-00942: no table"))]
)
def test_a_long_is_found_in_a_table_with_another_name_and_not_given_up_for_lack_of_a_right(monkeypatch, names, value):
    session, published = published_long(monkeypatch)
    session.answers |= {long_of("T"): refusal("ORA-00942: no table"), long_of("RENAMED"): [("long", *KEY)]}
    session.answers[composed("capture/queue/named")] = names
    if callable(value):
        with pytest.raises(oracledb.DatabaseError):
            published()
    else:
        assert published() == value


@pytest.mark.parametrize(("found", "value"), [([("long",)], "long"), (refusal('ORA-00904: "L": invalid'), None)])
def test_the_address_has_to_do_where_a_column_of_the_key_has_another_name_since(monkeypatch, found, value):
    session, published = published_long(monkeypatch)
    session.answers |= {long_of("T"): refusal('ORA-00904: "DAY": invalid'), long_of("T", keyed=False): found}
    assert published() == value


def test_a_long_without_a_primary_key_is_refused_and_the_older_trigger_goes_on(monkeypatch):
    keyed, bare = (CapturedTable(NAME, 7, (ID, LONG), key) for key in (("ID",), ()))
    session, capture, owner = source(monkeypatch, **catalog_of(bare), capture__registry__registered=registered(keyed))
    for refused in (
        lambda: capture.install({NAME: Watch("IUD")}, WatchSettings()),
        lambda: owner.dumpable({NAME: Watch("")}),
    ):
        with pytest.raises(SluiceError) as error:
            refused()
        assert error.value.code == 477
        assert "has a LONG" in error.value.fact
    capture.poll_ddl()
    assert not any('TRIGGER "REPL"' in one for one in session.said)


def test_a_slave_takes_a_long_that_is_gone_by_the_time_it_is_read():
    table = CapturedTable(NAME, 7, (ID, replace(LONG, not_null=True)), ("ID",))
    assert [one.not_null for one in layout_of(table).columns] == [True, False]
