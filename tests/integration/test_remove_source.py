"""Removing a source with all that it has, and what the databases still have of it then."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from psycopg import sql
from support.store_tables import metadata
from support.world import SOURCE

from sluice.capture.grants import grants, slave_grants
from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup
from sluice.changelog.segment_files import PlainDirectory
from sluice.cli.parser import main
from sluice.commands import remove_source as parts
from sluice.commands.leftovers import as_script, leftovers
from sluice.commands.remove_replication import Extent, remove_replication
from sluice.commands.remove_source import remove_source
from sluice.errors import SluiceError
from sluice.monitor import check
from sluice.monitor.status import as_table, statuses
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import leases, replications

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TYPE colour AS ENUM ('red');
CREATE DOMAIN shade AS colour;
CREATE TABLE parent (id int PRIMARY KEY, shade shade);
CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent);
INSERT INTO parent VALUES (1, 'red');
INSERT INTO child VALUES (1, 1)
"""
TABLES = ["public.parent", "public.child"]
OURS = "SELECT relname FROM pg_class WHERE relname LIKE 'sluice\\_%' AND relkind = 'r'"
OF_SOURCE = [table for table in metadata.sorted_tables if "source" in table.c]


def left(world):
    """The tables of the store that still have rows of the source."""
    with world.context.store.begin() as connection:
        return {
            table.name
            for table in OF_SOURCE
            if connection.execute(table.select().where(table.c.source == SOURCE)).first()
        }


def segments(world):
    return list(Path(world.settings["change_log"]).glob("*.parquet"))


def filled(world):
    world.update()
    world.verify(*world.slaves, initial=True)


@pytest.fixture
def world(updating):
    world = updating(DDL, TABLES)
    filled(world)
    world.master.execute("INSERT INTO parent VALUES (2)")
    world.publish()
    assert segments(world)
    return world


def expect_gone(world):
    assert left(world) == {"audit"}
    assert segments(world) == []
    assert world.master.execute("SELECT FROM pg_class WHERE relname LIKE 'repl\\_%'").fetchall() == []
    for slave in world.slaves:
        assert world.reader(slave).execute(OURS).fetchall() == []


def test_all_of_a_source_goes_and_it_can_be_had_again(world):
    gone = list(remove_source(world.context, SOURCE))
    expect_gone(world)
    assert {"table public.sluice_position", "replication flights->zurich", "TABLE repl.repl_queue"} <= {*gone}
    assert world.rows("zurich", "public.parent").total() == 1
    assert list(remove_source(world.context, SOURCE)) == []
    with pytest.raises(SluiceError, match=r"(?s)SLC-650: source flights .* removed by .*HINT: .*bootstrap"):
        world.publish()
    assert left(world) == {"audit"}
    bootstrap(world.context, SOURCE)
    filled(world)
    assert world.differences() == {}
    assert world.standing("zurich").well


@pytest.mark.full
def test_what_is_under_way_is_refused_and_nothing_is_ended_for_it(world):
    pair, store = world.pair("geneva"), world.context.store
    before = left(world)
    for name, code, hint in (
        (f"publish {SOURCE}", "SLC-387", "pause flights --publish"),
        (f"drain {pair}", "SLC-387", "pause flights geneva"),
    ):
        with leases.hold_lease(store, name), pytest.raises(SluiceError, match=rf"(?s){code}.*{hint}"):
            list(remove_source(world.context, SOURCE))
    replications.request(store, [pair], 77)
    with pytest.raises(SluiceError, match=r"(?s)SLC-387: .* is INITIAL.*cancel flights geneva"):
        list(remove_source(world.context, SOURCE))
    assert (left(world) - {"hold"}, len(segments(world))) == (before - {"hold"}, len(segments(world)))
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full(but=["segments"])
@pytest.mark.parametrize("crash", ["slave", "segments", "rows", "by hand"])
def test_it_goes_on_after_a_part_was_done(world, monkeypatch, crash):
    def dies(*_, **__):
        raise KeyboardInterrupt

    if crash == "by hand":
        remove_replication(world.context, world.pair("zurich"))
        cleanup(world.context, SOURCE)
        for file in segments(world)[1:]:
            file.unlink()
    else:
        target, name = {
            "slave": (parts, "remove_replication"),
            "segments": (PlainDirectory, "remove"),
            "rows": (parts.removal, "forget_source"),
        }[crash]
        with monkeypatch.context() as patch:
            patch.setattr(target, name, dies)
            with pytest.raises(KeyboardInterrupt):
                list(remove_source(world.context, SOURCE))
        world.let_leases_expire()
    list(remove_source(world.context, SOURCE))
    expect_gone(world)


@pytest.mark.full
def test_a_slave_that_took_part_of_a_removal_is_removed_again(world, monkeypatch):
    """The store forgets a replication before its slave does, and the job may end between the two."""
    forget = parts.removal.forget

    def dies(*told):
        forget(*told)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(parts.removal, "forget", dies)
        with pytest.raises(KeyboardInterrupt):
            list(remove_source(world.context, SOURCE))
    world.let_leases_expire()
    assert world.reader("zurich").execute("SELECT FROM sluice_position").fetchall()
    list(remove_source(world.context, SOURCE))
    expect_gone(world)


@pytest.mark.full
def test_segments_that_are_not_there_are_no_removed_ones(world):
    log = Path(world.settings["change_log"])
    log.rename(log.with_name("unmounted"))
    with pytest.raises(SluiceError, match=r"(?s)SLC-652.*--store-only"):
        list(remove_source(world.context, SOURCE))
    assert "segment" in left(world)
    list(remove_source(world.context, SOURCE, Extent.STORE))
    assert left(world) == {"audit"}


@pytest.mark.full
def test_a_slave_that_is_gone_is_removed_by_itself_first(world):
    world.infos["zurich"] = replace(world.infos["zurich"], port=1)
    with pytest.raises(SluiceError, match=r"(?s)SLC-652.*remove flights zurich --store-only"):
        list(remove_source(world.context, SOURCE))
    remove_replication(world.context, world.pair("zurich"), Extent.STORE)
    list(remove_source(world.context, SOURCE))
    assert (left(world), segments(world)) == ({"audit"}, [])


@pytest.mark.full
def test_databases_that_are_gone_are_left_alone_and_may_come_back(world):
    there = dict(world.infos)
    for name in ("master", "zurich"):
        world.infos[name] = replace(there[name], port=1)
    list(remove_source(world.context, SOURCE, Extent.STORE))
    assert (left(world), segments(world)) == ({"audit"}, [])
    assert "it was removed by" in world.standing("geneva").publishing
    assert "not looked at" in as_script(leftovers(world.context, SOURCE))
    # With positions in a log that is no more, and a queue of it.
    world.infos.update(there)
    world.master.execute("INSERT INTO parent VALUES (3)")
    bootstrap(world.context, SOURCE, rebase=True)
    filled(world)
    world.master.execute("INSERT INTO parent VALUES (4)")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_status_and_check_say_that_it_was_removed_and_advise_nothing_else(world):
    list(remove_source(world.context, SOURCE))
    text = as_table(statuses(world.context))
    assert re.search(r"source flights: it was removed by \S+ on .*\n +HINT: take it and its replications out", text)
    assert "bootstrap" in text
    assert not re.search(r"unpause|initial_update|never filled", text)
    (told,) = [one for one in check.findings(world.context) if one.subject == f"source {SOURCE}"]
    assert (told.good, "was removed by" in told.text, "bootstrap" in told.text) == (False, True, True)
    bootstrap(world.context, SOURCE)
    assert "removed" not in as_table(statuses(world.context))


@pytest.mark.full
def test_the_shell_says_what_goes_and_what_stays_before_it_is_sure(world, monkeypatch, capsys):
    def typed(*words):
        for name, value in world.environment().items():
            monkeypatch.setenv(name, value)
        return main(["cleanup", SOURCE, *words]), "".join(capsys.readouterr())

    before = left(world)
    code, said = typed("--all", "--tables")
    assert code == 1
    assert "flights->zurich" in said
    assert said.endswith("type: ./sluice cleanup flights --all --tables --yes\n")
    assert left(world) == before
    code, said = typed("--all", "--tables", "--yes")
    assert (code, "removed table public.child" in said) == (0, True)
    expect_gone(world)
    with pytest.raises(SystemExit):
        typed("--tables")


@pytest.mark.full
def test_initial_data_that_waits_to_be_carried_goes(updating):
    world = updating(DDL, TABLES)
    world.inhibit("zurich")
    world.dump("zurich", store=True)
    with world.context.store.begin() as connection:
        (url,) = (connection.execute(metadata.tables["transfer"].select()).one().url,)
    assert Path(url).exists()
    replications.record(world.context.store, world.pair("zurich"), ReplicationEvent.CANCEL)
    assert f"directory {url}" in list(remove_source(world.context, SOURCE))
    assert not Path(url).exists()


# Whoever owns the tables; the roles of the connections, which have what the scripts of `grants` give them.
SCENE = """
CREATE ROLE {owner}; CREATE ROLE {source} LOGIN PASSWORD 'canary'; CREATE ROLE {slave} LOGIN PASSWORD 'canary';
ALTER TABLE parent OWNER TO {owner}; ALTER TABLE child OWNER TO {owner};
GRANT CONNECT ON DATABASE {master} TO {source}
"""
SLAVE = """
REVOKE ALL ON DATABASE {database} FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE TABLE child (id int PRIMARY KEY, parent int); ALTER TABLE child OWNER TO {owner}
"""


@pytest.fixture
def restricted(updating, server):
    world = updating(DDL, TABLES, {}, slaves=["zurich"], source={"capture": "log"})
    cleanup(world.context, SOURCE)
    world.configure(lambda settings: settings["slaves"]["zurich"].update(schema="for sluice", adopt=["public.child"]))
    master, slave = world.infos["master"], world.infos["zurich"]
    names = {
        "owner": f"Owner {master.database}",
        "source": f"Role {master.database}",
        "slave": f"Slave {master.database}",
    }
    world.roles = names
    named = {name: sql.Identifier(text) for name, text in names.items()}
    named |= {"database": sql.Identifier(slave.database), "master": sql.Identifier(master.database)}
    world.master.execute(sql.SQL(SCENE).format(**named))
    world.admin = server.cluster.admin(slave.database)
    world.admin.execute(sql.SQL(SLAVE).format(**named))
    world.infos["master"] = replace(master, login=names["source"], password="canary")
    world.infos["zurich"] = replace(slave, login=names["slave"], password="canary")
    world.configure(lambda settings: None)
    world.master.execute(grants(world.context, SOURCE).encode())
    world.admin.execute(f"{slave_grants(world.context, 'zurich', silent=True)}".encode())
    for _ in range(2):
        # Once its DbResources are there the script makes event triggers, too.
        with suppress(SluiceError):
            bootstrap(world.context, SOURCE)
        world.master.execute(grants(world.context, SOURCE).encode())
    bootstrap(world.context, SOURCE)
    filled(world)
    yield world
    world.admin.close()


def statements(place):
    return [one.statement for one in place.left]


def test_what_the_scripts_gave_is_listed_and_the_statements_end_it(restricted):
    world = restricted
    role, slave, owner = (f'"{world.roles[name]}"' for name in ("source", "slave", "owner"))
    before, *_ = leftovers(world.context, SOURCE)
    with pytest.raises(SluiceError, match=r"SLC-033: .*may not drop"):
        list(remove_source(world.context, SOURCE, Extent.TABLES))
    assert world.status("zurich") is Status.NORMAL
    assert before.left[0].statement.startswith("DROP FUNCTION repl.repl_altered, ")
    world.master.execute(before.left[0].statement.encode())
    list(remove_source(world.context, SOURCE, Extent.TABLES))
    ours, theirs, _ = leftovers(world.context, SOURCE)
    assert statements(ours) == statements(before)[1:]
    assert {f"REVOKE {owner} FROM {role}", f"ALTER ROLE {role} NOREPLICATION"} <= {*statements(ours)}
    assert statements(theirs) == [
        "DROP TYPE public.colour, public.shade",
        'DROP SCHEMA "for sluice"',
        f"REVOKE CREATE, USAGE ON SCHEMA public FROM {slave}",
        f"REVOKE CONNECT, TEMPORARY ON DATABASE {world.infos['zurich'].database} FROM {slave}",
        "",
        f"REVOKE SET ON PARAMETER session_replication_role FROM {slave}",
    ]
    script = as_script([ours, theirs])
    assert f"if it was for tables that are gone: REVOKE {owner} FROM {slave}" in script
    for session, place in ((world.master, ours), (world.admin, theirs)):
        session.execute(as_script([place]).encode())
    # Nothing of the server depends on the roles any more.
    world.master.execute(f"DROP ROLE {role}; DROP ROLE {slave}".encode())


@pytest.mark.full
def test_what_something_else_needs_is_not_listed(restricted):
    world = restricted
    other = {"connection": "master", "prefix": "O_", "tables": {"public.child": {}}}
    world.configure(lambda settings: settings["sources"].update(other=other))
    first, second, _ = leftovers(world.context, SOURCE)
    assert (first.left, "its role is that of source other, too" in first.note) == ([], True)
    # Its tables need them.
    assert not any("DROP" in one for one in statements(second))


@pytest.mark.full
def test_a_superuser_needs_no_script(world):
    assert [place.name for place in leftovers(world.context, SOURCE)] == ["Airflow, in a shell"]


@pytest.mark.full
def test_accounts_of_mariadb_have_nothing_any_more_once_the_statements_were_run(binlog, master_server):
    world, _ = binlog("CREATE TABLE t (id int PRIMARY KEY)", ["t"], slaves=("zurich",), into="mariadb")
    list(remove_source(world.context, SOURCE))
    assert (left(world), segments(world)) == ({"audit"}, [])
    places = leftovers(world.context, SOURCE)[:2]
    assert all(one.startswith("REVOKE ") for place in places for one in statements(place)), places
    accounts = [world.infos[name].login for name in ("master", "zurich")]

    def given():
        query = "SELECT count(*) FROM mysql.db WHERE user = %s UNION ALL SELECT repl_slave_priv = 'Y' FROM mysql.user"
        return [master_server.execute(f"{query} WHERE user = %s", name, name) for name in accounts]

    assert given() != [[(0,), (0,)]] * 2
    master_server.run(as_script(places))
    assert given() == [[(0,), (0,)]] * 2
    assert {place.name for place in leftovers(world.context, SOURCE)} == {"Airflow, in a shell"}
