"""An initial update into a slave on Oracle, from our side; and what a configuration gets of such a slave."""

from __future__ import annotations

import pytest
from support.oracle_session import INFO
from support.oracle_slave import LAYOUT, NAME, PAIR, SCHEMA, depot, server

from sluice.apply.mapping.table_view import view
from sluice.config.mapper import Mapper
from sluice.errors import ConfigError, FencedError, SluiceError
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.model.position import Position, Snapshot
from sluice.vendors.oracle.catalog.slave_tables import making, table_of
from sluice.vendors.oracle.load import receiver
from sluice.vendors.oracle.load.receiver import OracleReceiver
from sluice.vendors.protocol.load import Expected
from sluice.vendors.protocol.plain_table import PlainTable
from sluice.vendors.protocol.read import TEXT, Chunk, Leaf
from sluice.vendors.protocol.tasks import LoadJob, SlaveLoad
from sluice.vendors.registry import vendor

LEAF = Leaf(NAME, NAME, 1, 2)


def test_loading_makes_what_is_missing_empties_what_is_there_and_ends_with_the_position(monkeypatch):
    session, slave = depot(monkeypatch, load__progress=[(0, 2)])
    loading = slave.loading(5)
    loading.begin()
    loading.expect([Expected("a"), Expected("b", 0)])
    assert session.values_of("load/expect") == [
        {"source": "sales", "slave": "depot", "load_id": 5, "chunk": chunk, "copied": copied}
        for chunk, copied in ((0, None), (1, 0))
    ]
    del session.said[:], session.given[:]
    missing = Layout(9, TableName("APP", "N"), LAYOUT.columns, (0,))
    loading.prepare([PlainTable(LAYOUT), PlainTable(missing)])
    assert [one for one in session.said if not one.startswith("catalog/")] == [
        # The fence is looked at before what commits. What cannot be made is known before any row goes.
        *("position/lock", "COMMIT", making(table_of(missing))),
        *("position/lock", "write/empty", "COMMIT"),
    ]
    loading.begin_stream(Position(6, 60), Snapshot("9:1.2.3"))
    assert session.said[-7:] == [
        "position/lock",
        "position/begin_update",
        "ddl/forget",
        "durable commit",
        "COMMIT",
        "load/forget",
        "COMMIT",
    ]
    assert loading.progress() == {0: 2}


def test_a_chunk_is_held_before_the_epoch_is_read_and_committed_with_its_claim(monkeypatch):
    session = server(load__lacking=[(0,), (1,)], load__claim=lambda values: [(1,)] if values["chunk"] == 1 else [])
    monkeypatch.setattr(receiver, "connect", lambda info, application: session)
    plan = SlaveLoad("depot", "oracle", "depot", SCHEMA, 5, {NAME: view(Mapper({}, {}), LAYOUT)})
    chunks = (Chunk(0, LEAF, 0, 1), Chunk(1, LEAF, 1, None))
    job = LoadJob("sales", None, "", chunks, {}, (plan,), 1)
    one = OracleReceiver(INFO, job, plan)
    one.open()
    assert one.claim_next() == 1
    assert session.said == ["load/lacking", "load/claim", "load/claim", "position/epoch"]
    one.begin(NAME, TEXT)
    one.write(b"1\t\\N\tx\t2024-02-29 12:00:00+00\t2024-02-29\t\\\\x0a\n")
    one.end(1, 1)
    assert session.said[-2:] == ["load/loaded", "COMMIT"]
    assert [given[0][0] for given in session.given if isinstance(given, list)] == [1]
    session.answers["position/epoch"] = [(6,)]
    with pytest.raises(FencedError):
        one.claim_next()
    one.close()


def test_what_others_hold_is_waited_for_in_the_end(monkeypatch):
    session = server(load__lacking=[(0,)], load__claim=[])
    monkeypatch.setattr(receiver, "connect", lambda info, application: session)
    one = OracleReceiver(
        INFO,
        LoadJob("sales", None, "", (Chunk(0, LEAF, 0, None),), {}, (), 1),
        SlaveLoad("depot", "oracle", "depot", SCHEMA, 5, {}),
    )
    one.open()
    assert one.claim_next() is None
    assert session.said == [
        *("load/lacking", "load/claim", "ROLLBACK"),
        *("load/lacking", "load/claim, waiting", "ROLLBACK"),
    ]


def test_tables_of_other_users_are_refused_and_those_of_the_user_are_not(monkeypatch):
    _, slave = depot(monkeypatch)
    with pytest.raises(ConfigError) as error:
        slave.loadable([PlainTable(LAYOUT)])
    assert error.value.code == 523
    slave.loadable([PlainTable(Layout(7, TableName(SCHEMA, "T"), LAYOUT.columns, (0,)))])


def test_the_vendor_offers_such_a_slave_with_its_rights():
    found = vendor("oracle")
    assert found.grants(INFO, SCHEMA, [], []) == (
        'GRANT CREATE SESSION, CREATE TABLE TO "REPL";\nGRANT EXECUTE ON sys.dbms_flashback TO "REPL";\n'
        'ALTER USER "REPL" QUOTA UNLIMITED ON "USERS"'
    )
    assert found.is_ours([], TableName(SCHEMA, "SLUICE_POSITION"))
    assert not found.is_ours([], NAME)
    assert isinstance(found.slave(INFO, PAIR, SCHEMA, Mapper({}, {}), []).capabilities().transactional_ddl, bool)


@pytest.mark.parametrize(
    ("answers", "lacking"),
    [({"catalog__rights": [("CREATE SESSION",)]}, "lacks CREATE TABLE"), ({"catalog__room": []}, "QUOTA")],
)
def test_a_right_that_the_user_lacks_is_named_before_anything_is_emptied(monkeypatch, answers, lacking):
    session, slave = depot(monkeypatch, **answers)
    with pytest.raises(SluiceError, match=lacking) as error:
        slave.loadable([PlainTable(Layout(7, TableName(SCHEMA, "T"), LAYOUT.columns, (0,)))])
    assert error.value.code == 33
    assert "lacks" in error.value.fact
    assert not any(one.startswith(("write/", "CREATE", "DELETE")) for one in session.said)
