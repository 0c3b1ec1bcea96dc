"""`./sluice check`: everything that the configuration names is looked at, whatever else is wrong."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from support.lasting import configured_anew, lasting
from support.places import reserve_port
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.initial_update.inhibit import inhibit
from sluice.monitor import check, spark_address
from sluice.monitor.check import findings
from sluice.paths import HOME_ENV

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, amount numeric(14,4), note text)"


class Refusing(BaseHTTPRequestHandler):
    """An Airflow that knows nobody."""

    def do_POST(self) -> None:
        self.send_error(401, "Invalid credentials")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def beside_spark(world, monkeypatch):
    """What else `check` looks at: a Spark server that listens, and an Airflow that does not."""
    monkeypatch.setenv(HOME_ENV, str(world.path))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        there = listening.getsockname()[1]
        world.infos["sluice_spark"] = ConnectionInfo("spark_connect", "127.0.0.1", there, "", "", "", {})
        world.infos["sluice_airflow_api"] = ConnectionInfo("http", "127.0.0.1", nobody(), "", "admin", "canary", {})
        world.configure(lambda plain: plain.update(control="control"))
        yield world


@pytest.fixture
def world(build, monkeypatch):
    with beside_spark(build(DDL, ["public.t"]), monkeypatch) as made:
        yield made


@pytest.fixture(scope="module")
def shared(server, tmp_path_factory):
    with lasting(server, tmp_path_factory.mktemp("check"), DDL, ["public.t"]) as world:
        yield world


@pytest.fixture
def looked(shared, monkeypatch):
    """A world of which tests change the configuration, and nothing else."""
    with configured_anew(shared), beside_spark(shared, monkeypatch):
        yield shared


def nobody() -> int:
    """A port where nobody listens."""
    return reserve_port()


def wrong(world) -> dict[str, str]:
    """What is wrong, but for Airflow, which is not here."""
    found = {one.subject: one.text for one in findings(world.context) if not one.good}
    assert "canary" not in str(found)
    assert found.pop("Airflow's REST API").startswith("SLC-915: no good answer to ")
    return found


def test_all_that_is_configured_is_looked_at(world):
    subjects = [one.subject for one in findings(world.context)]
    assert subjects == [
        "control store",
        "Airflow's REST API",
        "pools and DAGs",
        "Spark",
        "change log",
        f"source {SOURCE}",
        "replications",
        "slave zurich",
    ]
    assert wrong(world) == {}


def test_changes_that_would_come_back_are_told_whatever_the_connections_are_called(looked):
    def back(plain):
        plain["sources"]["back"] = {"connection": "zurich", "tables": {"public.t": {}}}
        plain["slaves"]["home"] = {"connection": "writer"}
        plain["replications"].append({"source": "back", "slave": "home"})

    looked.infos["writer"] = replace(looked.infos["master"], login="writer")
    looked.configure(back)
    assert wrong(looked)["replications"].startswith("SLC-002: what flights sends to zurich would come back to it")


def test_a_refused_login_at_airflow_is_told(looked):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    info = looked.infos["sluice_airflow_api"]
    looked.context.connections["sluice_airflow_api"] = replace(info, port=server.server_port)
    try:
        (text,) = [one.text for one in findings(looked.context) if one.subject == "Airflow's REST API"]
    finally:
        server.shutdown()
        server.server_close()
    assert "401" in text


class Answering(BaseHTTPRequestHandler):
    """An Airflow that knows everybody."""

    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"access_token": "t"}')

    do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def test_ways_to_airflow_and_spark_beyond_the_loopback_that_are_not_encrypted_are_told(looked, monkeypatch, bucket):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    info = looked.infos["sluice_airflow_api"]
    looked.context.connections["sluice_airflow_api"] = replace(info, port=server.server_port)

    def told(words: str = "encrypt") -> list[str]:
        return [one.subject for one in findings(looked.context) if words in one.text]

    try:
        assert told() == []
        # Servers of tests listen on the loopback alone: let that be far away.
        for module in (check, spark_address):
            monkeypatch.setattr(module, "is_far", bool)
        assert told() == ["Airflow's REST API", "Spark"]
        spark = looked.infos["sluice_spark"]
        looked.context.connections["sluice_spark"] = replace(spark, extra={"use_ssl": True})
        assert told() == ["Airflow's REST API"]
        assert told("Spark is on another machine: mount this directory") == ["change log"]
        looked.configure(lambda plain: plain.update(change_log=bucket("log")))
        assert told("Spark is on another machine") == []
        assert told("answers, 0 segments are there") == ["change log"]
    finally:
        server.shutdown()
        server.server_close()


SLAVES = [
    ("ALTER TABLE t ALTER amount TYPE numeric(12,2)", "SLC-220"),
    ("ALTER TABLE t ALTER amount TYPE numeric(14,4), DROP note", "SLC-073: the slave's table public.t lacks"),
]


def test_a_table_of_a_slave_that_cannot_take_every_row_is_told_before_it_stops(world):
    for change, code in SLAVES:
        world.reader("zurich").execute(change)
        assert wrong(world)["slave zurich"].startswith(code)


def blind(entry, **watch):
    """What makes a slave see the table so, while its updates say nothing of what rows were."""

    def change(plain):
        plain["sources"][SOURCE]["tables"]["public.t"] = {"old_images": "key", **watch}
        plain["slaves"]["zurich"]["tables"] = {"public.t": entry}

    return change


KEYLESS = [{"exclude_columns": ["id"]}, {"mask": {"id": "redact"}}, {"compute": {"id": "id + 1"}}]


def test_a_slave_that_needs_more_of_updates_than_they_say_is_told_before_it_stops(world):
    world.reader("zurich").execute("DROP TABLE t")
    for entry in KEYLESS:
        world.configure(blind(entry))
        told, hint = wrong(world)["slave zurich"].split("\nHINT: ")
        assert told.startswith("SLC-226: the slave needs to know what rows of public.t were"), entry
    bootstrap(world.context, SOURCE)
    world.master.execute("INSERT INTO t VALUES (1, 2, 'a'); UPDATE t SET note = 'b'")
    world.publish()
    with pytest.raises(SluiceError, match="SLC-226") as stopped:
        world.drain()
    assert stopped.value.hint.startswith(hint)


# What is watched of the table, and what was done to it, so that no update lacks its old row.
ENOUGH = [
    ({"actions": "ID"}, ""),
    ({}, "ALTER TABLE t ADD UNIQUE (note) DEFERRABLE"),
    ({}, "ALTER TABLE t DROP CONSTRAINT t_note_key, DROP CONSTRAINT t_pkey"),
]


def test_a_slave_is_not_told_so_where_old_rows_are_stored_whole(world):
    world.reader("zurich").execute("DROP TABLE t")
    for watch, ddl in ENOUGH:
        world.master.execute(ddl)
        world.configure(blind({"exclude_columns": ["id"]}, **watch))
        assert wrong(world) == {}, (watch, ddl)


PLACES = [
    ("slave zurich", lambda plain: plain["slaves"]["zurich"].update(schema="nowhere")),
    (f"source {SOURCE}", lambda plain: plain["sources"][SOURCE].update(schema='no"where')),
]


def test_a_schema_that_is_not_there_is_told(looked):
    for subject, change in PLACES:
        looked.configure(change)
        text = wrong(looked)[subject]
        assert text.startswith("SLC-003")
        assert "nowhere" in text.replace('"', "")


READ_ONLY = [
    ("master", "DATABASE {database}", "set for this database"),
    ("master", "ROLE {login}", "set for this role"),
    ("zurich", "ROLE {login}", "set for this role"),
    ("zurich", "ROLE {login} IN DATABASE {database}", "set for this role in this database"),
]


def test_a_setting_that_lets_nobody_write_is_told_with_what_to_type(world):
    subjects = {"master": f"source {SOURCE}", "zurich": "slave zurich"}
    for name, whose, said in READ_ONLY:
        info = world.infos[name]
        named = whose.format(database=info.database, login=info.login)
        world.reader(name).execute(f"ALTER {named} SET default_transaction_read_only = on")
        fact, hint = wrong(world)[subjects[name]].splitlines()
        assert fact.startswith("SLC-038")
        assert fact.endswith(said)
        world.session(name).execute(hint.rpartition(": ")[2])
        assert wrong(world) == {}
        for one in (named, f"ROLE {info.login} IN DATABASE {info.database}"):
            world.reader(name).execute(f"ALTER {one} RESET default_transaction_read_only")


def test_everything_else_is_looked_at_though_much_is_missing(looked):
    for gone in ("sluice_spark", "zurich"):
        looked.context.connections.pop(gone)
    assert set(wrong(looked)) == {"Spark", "slave zurich"}


def test_what_is_written_to_a_table_not_as_one_may_expect_is_told(world):
    """Nothing tells its rows apart at once, so they are looked for; and what fires there sees no single change."""
    unkeyed, coarse = "public.t has no unique index", "audit of public.t acts on what a batch comes to: late is checked"
    slave = world.reader("zurich")

    def told() -> list[bool]:
        (text,) = [one.text for one in findings(world.context) if one.subject == "slave zurich"]
        return [unkeyed in text, coarse in text]

    slave.execute(
        "CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "CREATE TRIGGER audit AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION noted();"
        "ALTER TABLE t ENABLE ALWAYS TRIGGER audit"
    )
    assert told() == [False, False]
    slave.execute("ALTER TABLE t DROP CONSTRAINT t_pkey")
    assert told() == [True, False]
    slave.execute("ALTER TABLE t ADD CONSTRAINT late PRIMARY KEY (id) DEFERRABLE")
    assert told() == [False, True]


def test_a_spark_server_that_does_not_listen_is_told(looked):
    info = looked.infos["sluice_spark"]
    looked.context.connections["sluice_spark"] = replace(info, port=nobody())
    assert wrong(looked)["Spark"].startswith("SLC-064")


def test_a_change_log_that_cannot_be_written_is_told(looked):
    file = looked.path / "a file"
    file.write_text("")
    looked.configure(lambda plain: plain.update(change_log=str(file / "log")))
    assert wrong(looked)["change log"].startswith("SLC-659: nothing can be written")


def test_a_change_log_on_a_disk_that_is_not_mounted_is_told(looked, monkeypatch):
    place = looked.path / "disk" / "log"
    looked.configure(lambda plain: plain.update(change_log=str(place)))
    monkeypatch.setenv(HOME_ENV, str(looked.path / "home"))
    told = wrong(looked)["change log"]
    assert told.startswith(f"SLC-659: there is no {place.parent}")
    assert f"mkdir -p {place.parent}" in told
    monkeypatch.setenv(HOME_ENV, str(looked.path))
    assert "change log" not in wrong(looked), "what is below SLUICE_HOME is made"


def test_a_slave_that_no_source_feeds_is_named(looked):
    looked.configure(lambda plain: plain["slaves"].update(geneva={"connection": "nowhere"}))
    (finding,) = [one for one in findings(looked.context) if one.subject == "slave geneva"]
    assert "in no replication" in finding.text


def test_what_is_not_captured_of_a_table_is_told(build):
    world = build(
        "CREATE DOMAIN lo AS oid; CREATE TABLE t (id int PRIMARY KEY, photo oid, scan lo, note text);"
        "CREATE TABLE parted (id int) PARTITION BY RANGE (id);"
        "CREATE UNLOGGED TABLE brief PARTITION OF parted FOR VALUES FROM (0) TO (10);"
        "CREATE TABLE heir () INHERITS (t);"
        "CREATE DOMAIN rate AS float8; CREATE TABLE made (f float8, b bytea, i int, p point, x box, fs float8[],"
        ' d rate, s text, "is" int[], fi text GENERATED ALWAYS AS (f::text) STORED,'
        " bi text GENERATED ALWAYS AS (left(b::text, 9)) STORED, ii text GENERATED ALWAYS AS (i::text) STORED,"
        " pi text GENERATED ALWAYS AS (p::text) STORED, xi text GENERATED ALWAYS AS (upper(x::text)) STORED,"
        " ai text[] GENERATED ALWAYS AS (fs::text[]) STORED, di text GENERATED ALWAYS AS (d::text) STORED,"
        " si text GENERATED ALWAYS AS ((s::float8)::text) STORED,"
        ' ni text[] GENERATED ALWAYS AS ("is"::text[]) STORED,'
        " fr text GENERATED ALWAYS AS (round(f::numeric, 3)::text) STORED)",
        ["public.t", "public.parted", "public.made"],
    )
    (text,) = [one.text for one in findings(world.context) if one.subject.startswith("source")]
    assert "of public.t.photo, public.t.scan the numbers travel, large objects that they name do not" in text
    assert "; public.brief: UNLOGGED, so a crash empties it" in text
    assert "; public.heir from public.t inherits: a query of the parent" in text
    assert "public.brief from" not in text, "a partition is no heir"
    computed = ", ".join(f"public.made.{name}" for name in ("ai", "bi", "di", "fi", "pi", "si", "xi"))
    assert f"; {computed}: computed as the text of floats, bytes or an interval" in text
    world.configure(lambda plain: plain["sources"][SOURCE]["tables"].update({"public.heir": {}}))
    (found,) = [one for one in findings(world.context) if one.subject.startswith("source")]
    assert (found.good, "public.heir is not captured" in found.text) == (False, True)
    assert "bootstrap" in found.text.partition("HINT: ")[2]


def test_an_entry_of_a_slave_that_is_not_spelled_like_its_table_is_told(world, caplog):
    caplog.set_level("INFO")
    world.configure(lambda plain: plain["sources"][SOURCE].update(tables={"public.*": {}}))
    world.configure(lambda plain: plain["slaves"]["zurich"].update(tables={"public.T": {"mask": {"note": "redact"}}}))
    told = "its `tables` name public.T, which is not there; there is public.t"
    (text,) = [one.text for one in findings(world.context) if one.subject == "slave zurich"]
    assert told in text
    inhibit(world.context, SOURCE, ["zurich"])
    assert told in caplog.text


def test_where_files_are_to_be_stored_is_looked_at_if_it_is_named(looked):
    files = {"initial_files": {"location": "/dev/null/there"}}
    looked.configure(lambda plain: plain["sources"][SOURCE].update(files))
    assert wrong(looked)[f"initial files of {SOURCE}"].startswith("SLC-180")
