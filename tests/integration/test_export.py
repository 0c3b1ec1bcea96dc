"""Exporting a range of a real change log: every value, every command, whole transactions; and what cannot be done."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import yaml
from support.world import SOURCE

from sluice.cli import parser
from sluice.config.configuration_text import CONFIG_ENV
from sluice.connections import SEALED_ENV, seal
from sluice.messages.message import Description
from sluice.messages.xml_reader import read
from sluice.paths import HOME_ENV, PROJECT
from sluice.statements.issue import issue

pytestmark = [pytest.mark.postgres]

DDL = (
    'CREATE TABLE t (id int PRIMARY KEY, v text, "r & d\x01" bytea, flag boolean, flags boolean[]);'
    'CREATE TABLE "Ta ]]>" (id int)'
)
ODD = ["", " \n\t ", "\r\n", "]]>", "<a>&amp;", "\x01\x1f\ufffe", "\\N", "Größe 😀", "'\""]


@pytest.fixture
def world(build, monkeypatch):
    """A world that `./sluice` finds."""
    made = build(DDL, ["public.t", "public.Ta ]]>"])
    found(made, monkeypatch)
    return made


def found(world, monkeypatch):
    world.path.mkdir(exist_ok=True)
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings))
    monkeypatch.setenv(CONFIG_ENV, str(world.path / "replication.yaml"))
    monkeypatch.setenv(HOME_ENV, str(world.path))
    monkeypatch.setenv(SEALED_ENV, seal(world.infos))


def configured(world, monkeypatch, **messages):
    world.configure(lambda settings: settings["sources"][SOURCE].update(messages=messages))
    found(world, monkeypatch)


def exported(capsysbinary, *arguments):
    assert parser.main(["export", SOURCE, *arguments]) == 0
    return capsysbinary.readouterr().out


def messages(document):
    """Messages as (description, rows)."""
    whole = []
    for part in read([document]):
        whole.append((part, [])) if isinstance(part, Description) else whole[-1][1].append(part)
    return whole


def ordinals(document):
    return [[int(row.attributes["ordinal"]) for row in rows] for _, rows in messages(document)]


def inserted(world, count):
    for number in range(1, count + 1):
        world.master.execute("INSERT INTO t VALUES (%s, 'a'), (%s, 'b')", [number, -number])
    world.catch_up()


def test_every_value_comes_out_as_the_master_has_it_and_the_literals_are_those_of_items(world, capsysbinary):
    rows = [(number, text, text.encode(), number < 3, [True]) for number, text in enumerate(ODD)]
    rows.append((99, None, None, None, None))
    with world.master.transaction(), world.master.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s, %s, %s)", rows)
        cursor.execute("UPDATE t SET v = NULL WHERE id = 0")
        cursor.execute("DELETE FROM t WHERE id = 1")
    literals = [new or old for new, old in world.master.execute("SELECT content, oldcontent FROM repl_items")]
    (xid,) = world.master.execute("SELECT DISTINCT trans_key FROM repl_items").fetchone()
    world.catch_up()
    document = exported(capsysbinary)
    ((description, got),) = messages(document)
    assert (description.command, description.ident) == ("REPLICATION", xid)
    assert [row.columns for row in got[: len(rows)]] == [
        (
            ("id", str(number)),
            ("v", text),
            ("r & d\x01", raw),
            ("flag", None if flag is None else str(flag).lower()),
            ("flags", flags and "{t}"),
        )
        for number, text, raw, flag, flags in rows
    ]
    assert got[-2].old == (("id", "0"), ("v", ""), ("r & d\x01", b""), ("flag", "true"), ("flags", "{t}"))
    assert [row.attributes["action"] for row in got[-2:]] == ["UPDATE", "DELETE"]
    assert all(literal in document.decode() for literal in literals)
    names = {row.attributes["dbId"] for row in got}, {row.attributes["version"] for row in got}
    assert names == ({world.infos["master"].database}, {"0.0"})


@pytest.mark.full
def test_json_lines_tell_the_same(world, capsysbinary):
    world.master.execute("INSERT INTO t VALUES (1, 'a', '\\x00', true, '{t,f}')")
    world.master.execute("UPDATE t SET v = NULL")
    world.catch_up()
    lines = [json.loads(line) for line in exported(capsysbinary, "--format", "jsonl").splitlines()]
    assert [(line["ordinal"], line["action"], line["columns"]["v"]) for line in lines] == [
        (1, "INSERT", "a"),
        (2, "UPDATE", None),
    ]
    raw = {"base64": "AA=="}
    assert lines[1]["old"] == {"id": "1", "v": "a", "r & d\x01": raw, "flag": "true", "flags": "{t,f}"}


@pytest.mark.full
def test_ddl_stands_between_the_rows_of_its_transaction(world, capsysbinary):
    with world.master.transaction():
        world.master.execute("INSERT INTO t VALUES (1)")
        world.master.execute("ALTER TABLE t RENAME v TO w")
        world.master.execute("ALTER TABLE t ADD n numeric(9,3) NOT NULL DEFAULT 0")
        world.master.execute("TRUNCATE t")
        world.master.execute('DROP TABLE "Ta ]]>"')
    world.publish()
    found = messages(exported(capsysbinary))
    assert [(one.command, len(rows)) for one, rows in found] == [
        ("REPLICATION", 1),
        ("ALTER", 0),
        ("ALTER", 0),
        ("REPLICATION", 1),
        ("DROP", 0),
    ]
    renamed, added = found[1][0], found[2][0]
    assert [(one.name, one.attributes.get("oldName")) for one in renamed.columns][1] == ("w", "v")
    assert added.columns[-1].name == "n"
    assert added.columns[-1].attributes["typeName"] == "numeric(9,3)"
    assert found[4][0].attributes["tableName"] == "Ta ]]>"
    assert [row.attributes["action"] for row in found[3][1]] == ["TRUNCATE"]
    lines = [json.loads(line) for line in exported(capsysbinary, "--format", "jsonl").splitlines()]
    assert [line["command"] for line in lines] == ["REPLICATION", "ALTER", "ALTER", "REPLICATION", "DROP"]
    assert len({line["ordinal"] for line in lines}) == 1


@pytest.mark.full
def test_a_statement_issued_through_sluice_is_a_message_at_its_place(world, capsysbinary):
    world.master.execute("INSERT INTO t VALUES (1, 'a & b')")
    issued = issue(world.context, SOURCE, "UPDATE t SET v = '<' WHERE id = 1")
    world.master.execute("INSERT INTO t VALUES (2)")
    world.catch_up()
    (_, before), (statement, none), (_, after) = messages(exported(capsysbinary))
    assert (len(before), none, len(after)) == (1, [], 1)
    said = statement.attributes
    assert (statement.command, said["statementId"], said["ordinal"]) == ("STATEMENT", str(issued.id), "2")
    assert said["statement"] == "UPDATE t SET v = '<' WHERE id = 1"


RANGES = [
    ([], [1, 2, 3, 4, 5]),
    (["--from", "3"], [3, 4, 5]),
    (["--to", "2"], [1, 2]),
    (["--from", "2", "--to", "4"], [2, 3, 4]),
    (["--from", "3", "--to", "3"], [3]),
    (["--from", "3", "--to", "2"], []),
]


def test_a_range_holds_whole_transactions_and_no_other(build, monkeypatch, capsysbinary):
    world = build(DDL, ["public.t"], source={"segments": {"max_changes": 4}})
    found(world, monkeypatch)
    inserted(world, 5)
    for arguments, expected in RANGES:
        assert ordinals(exported(capsysbinary, *arguments)) == [[one, one] for one in expected], arguments


def test_what_the_log_does_not_have_is_refused(world, capsysbinary):
    inserted(world, 5)
    for arguments in (["--to", "7"], ["--from", "8"], ["--from", "5", "--to", "3"], ["--from", "1"]):
        if arguments == ["--from", "1"]:
            world.master.execute("INSERT INTO t VALUES (6)")
            world.publish()
            manifest = world.context.manifest(SOURCE)
            manifest.mark_trimmed(manifest.kept_segments()[:1])
        assert parser.main(["export", SOURCE, *arguments]) == 1
        out, errors = capsysbinary.readouterr()
        assert out == b""
        assert b"SLC-056" in errors


def test_an_empty_log_gives_an_empty_document(world, capsysbinary):
    assert list(read([exported(capsysbinary)])) == []
    assert exported(capsysbinary, "--format", "jsonl") == b""


def test_transactions_are_collected_into_messages(world, monkeypatch, capsysbinary):
    inserted(world, 5)
    world.master.execute('DROP TABLE "Ta ]]>"; CREATE TABLE "Ta ]]>" AS SELECT generate_series(1, 5) AS id')
    world.publish()
    configured(world, monkeypatch, max_collected_statements=3, max_rows_on_create=2, db_id="till", version="7")
    document = exported(capsysbinary)
    assert ordinals(document) == [[1, 1, 2, 2], [3, 3, 4, 4], [5, 5], [], [], [6, 6], [6, 6], [6]]
    said = {(row.attributes["dbId"], row.attributes["version"]) for _, rows in messages(document) for row in rows}
    assert said == {("till", "7")}


class Telling:
    """A transformer that tells where changes come from."""

    def __init__(self, source):
        self.source = source

    def transform(self, changes, layouts):
        import pyarrow as pa

        from sluice.changelog.schema import ATTRIBUTES
        from sluice.publish.transformer import Transformed

        rows = pa.array([[("key", str(key))] for key in changes.column("repl_key").to_pylist()], ATTRIBUTES)
        return Transformed(attributes=rows, description=pa.array([[("from", "till")]] * len(changes), ATTRIBUTES))


def test_a_transformers_attributes_are_in_the_messages(world, monkeypatch, capsysbinary):
    configured(world, monkeypatch, transformer=f"{__name__}:{Telling.__name__}")
    inserted(world, 1)
    ((description, rows),) = messages(exported(capsysbinary))
    assert description.attributes == {"from": "till"}
    assert all(row.attributes["key"] == row.attributes["replKey"] for row in rows)


def test_a_file_is_whole_or_not_there(world, capsysbinary):
    inserted(world, 2)
    file = world.path / "changes.xml"
    assert exported(capsysbinary, "--output", str(file)) == b""
    assert ordinals(file.read_bytes()) == [[1, 1], [2, 2]]
    assert parser.main(["export", SOURCE, "--output", str(world.path / "nowhere" / "changes.xml")]) == 1
    assert b"SLC-659" in capsysbinary.readouterr().err
    next((world.path / "log").glob("*.parquet")).write_bytes(b"spoilt")
    before = sorted(world.path.iterdir())
    assert parser.main(["export", SOURCE, "--output", str(world.path / "other.xml")]) == 1
    assert b"SLC-047" in capsysbinary.readouterr().err
    assert sorted(world.path.iterdir()) == before


@pytest.mark.full
def test_a_reader_that_has_seen_enough_ends_the_export_without_a_word(world):
    world.master.execute("INSERT INTO t SELECT n, repeat('x', 1000) FROM generate_series(1, 5000) AS n")
    world.publish()
    env = {**os.environ, "PYTHONPATH": str(PROJECT / "include")}
    command = [sys.executable, "-m", "sluice.cli", "export", SOURCE, "--format", "jsonl"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert json.loads(process.stdout.readline())["columns"]["id"] == "1"
        process.stdout.close()
        errors = process.stderr.read()
    assert (process.returncode, errors) == (141, b"")


@pytest.mark.full
def test_a_large_transaction_is_streamed(build, monkeypatch):
    """Bounded memory: more than twice as many rows take hardly more."""
    world = build("CREATE TABLE t (id serial PRIMARY KEY, v text)", ["public.t"])
    found(world, monkeypatch)
    for rows in (15_000, 40_000):
        world.master.execute("INSERT INTO t (v) SELECT repeat('x', 1500) FROM generate_series(1, %s)", [rows])
        world.publish()
    # Not getrusage: its figure survives exec, so it would be the peak of whoever started this.
    script = (
        "import sys; from pathlib import Path; from sluice.cli import parser; code = parser.main(sys.argv[1:]); "
        "print(Path('/proc/self/status').read_text(), file=sys.stderr); sys.exit(code)"
    )
    env = {**os.environ, "PYTHONPATH": str(PROJECT / "include")}

    def peak(ordinal):
        command = [sys.executable, "-c", script, "export", SOURCE, "--from", str(ordinal), "--to", str(ordinal)]
        command += ["--output", str(world.path / f"{ordinal}.xml")]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        return int(done.stderr.partition("VmHWM:")[2].split()[0]) / 1024

    smaller, larger = peak(1), peak(2)
    assert (world.path / "2.xml").stat().st_size > 60_000_000
    assert larger - smaller < 60
