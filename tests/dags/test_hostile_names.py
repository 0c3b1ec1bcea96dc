"""Names and values of others that would be more than letters, from a master to everything that people look at: pages,
REST, notes of runs, questions, mails and files."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from urllib.parse import quote

import pytest
import yaml
from airflow.sdk.bases.operator import ExecutorSafeguard
from playwright.sync_api import expect
from psycopg import sql
from support.browser import logged_in
from support.hostile import CONTROL, NAMES, Page, named
from support.markdown import meant
from support.pages import at, routes
from support.places import reserve_port
from support.smtp import mail_server
from support.updating import background, compare_here
from support.world import SOURCE

from sluice.airflow_api.client import dag_run
from sluice.config.alerts import AlertReceiver
from sluice.config.relay import CsvLog
from sluice.connections import KEY_FILE_ENV, SEALED_ENV, new_key_file, seal
from sluice.errors import RowsDiffer, SluiceError
from sluice.initial_update import column_losses
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.progress import LoadProgress, TableProgress, TableState
from sluice.model.requester import Requester
from sluice.model.row_conflict import RejectedChange, RowConflict
from sluice.model.statement import WantedStatement
from sluice.monitor import alerts
from sluice.outside_text import from_note
from sluice.relay.csv_log import CsvLogger
from sluice.relay.log_reader import LogSlice, PackedEvent, cursor_at
from sluice.relay.payloads import EventKind, event_body
from sluice.state.initial_update import UpdateEvent
from sluice.statements import request
from sluice.store import blocked, ddl_questions, rejected_changes, statement_results, updates
from sluice.verify.run import VerifyRequest, verify
from sluice_airflow import alert_operator
from sluice_airflow.failures import JobFailed
from sluice_airflow.operator import SluiceSparkOperator

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
ALL = set(NAMES)
DRAIN = f"drain__{SOURCE}__zurich"
QUERIED = ("q", "status", "sort", "person", "event", "table", "run", "span", "mode", "source", "slave")
# These routes have all of the names on them.
NAMING = {"/replications/{source}/{slave}", "/initial-update", "/tables/{source}", "/parts/preview"}
NAMING |= {"/statements/{source}/{number}", "/waiting/{source}/{slave}"}
NAMING |= {f"/comparisons/{{source}}/{{slave}}/{{number}}{page}" for page in ("", "/repair")}
# A line of Prometheus' format.
METRIC = re.compile(r'# (HELP|TYPE) \w+ .+|\w+\{(\w+="([^"\\]|\\.)*",?)*\} \S+')


def made(statement: str, *names: str) -> str:
    return sql.SQL(statement).format(*map(sql.Identifier, names)).as_string()


DDL = "".join(
    made("CREATE TABLE {} (id int PRIMARY KEY, {} text, CONSTRAINT {} CHECK (id > 0));", name, name, name)
    for name in NAMES
)


@pytest.fixture
def world(pages_world, connect, monkeypatch):
    """Everything that can happen to tables with such names has happened."""
    world, store = pages_world, pages_world.context.store
    geneva = world.pair("geneva")
    monkeypatch.setattr(ExecutorSafeguard, "test_mode", True)
    new_key_file(world.path / "seal.key")
    monkeypatch.setenv(KEY_FILE_ENV, str(world.path / "seal.key"))
    connect("sluice_spark", conn_type="spark_connect", host="127.0.0.1", port=15002)
    write(world, 1)
    world.catch_up()
    for name in NAMES:
        world.session("zurich").execute(made("UPDATE {} SET {} = 'other'", name, name))
    with background(world.publish, lambda: world.drain("zurich")), pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEALED_ENV, seal(world.infos))
        with pytest.raises(RowsDiffer):
            verify(world.context, VerifyRequest(SOURCE, ("zurich",)), compare_here, 60)
    answers = sql.SQL(", ").join(sql.SQL("{} AS {}").format(name, sql.Identifier(name)) for name in NAMES)
    wanted = WantedStatement(f"SELECT {answers.as_string()}")
    number = statement_results.begin(store, SOURCE, ["zurich", "geneva"], wanted, "ada", begun=False)
    request.carry_out(world.context, SOURCE, number, [Requester("ada", ["admin"])])
    world.catch_up()
    world.configure(lambda settings: settings["replications"][1].update(alters="ask"))
    world.configure(lambda settings: settings.update(alerts={"to": "smtp://mails?to=dba@example.com", "after_s": 0}))
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings))
    added = sql.SQL("ALTER TABLE {} ADD {} text DEFAULT {}")
    world.master.execute(added.format(sql.Identifier(NAMES[0]), sql.Identifier(NAMES[1]), "\n".join(NAMES)))
    world.publish()
    world.drain("zurich")
    assert world.drain("geneva")["standby"].startswith("APPROVAL: ")
    world.session("zurich").execute(made("ALTER TABLE {} ADD CONSTRAINT {} CHECK (id < 2)", NAMES[4], NAMES[2]))
    write(world, 2)
    world.publish()
    for name in NAMES:
        layout = Layout(
            1, TableName("public", name), (Column("id", "integer", True), Column(name, "text", False)), (0,)
        )
        change = RejectedChange(layout, RowConflict.MISSING, "U", 3, 41, ["8", name], ["7", name])
        rejected_changes.keep(store, geneva, [change])
        blocked.skip(store, geneva, TableName("public", name), name)
    return world


def write(world, number: int) -> None:
    for name in NAMES:
        world.master.execute(
            sql.SQL("INSERT INTO {} (id, {}) VALUES ({}, {})").format(
                sql.Identifier(name), sql.Identifier(name), number, name
            )
        )


@pytest.mark.full(but=["one in each address"])
@pytest.mark.parametrize(
    ("pages_world", "all_of_them"),
    [
        pytest.param({"ddl": DDL}, False, id="one in each address"),
        pytest.param({"ddl": DDL}, True, id="all in each address and in a browser"),
    ],
    indirect=["pages_world"],
)
def test_names_of_others_stay_letters_wherever_people_look(
    world, visit, address, people, connect, context, monkeypatch, tmp_path, all_of_them
):
    look_at_notes(world, people, context, address, browser=all_of_them)
    look_at_pages(world, visit, address, all_of_them=all_of_them)
    look_at_questions_and_files(world, tmp_path)
    look_at_messages(world, connect, monkeypatch)


def look_at_notes(world, people, context, address, *, browser: bool) -> None:
    """Airflow shows them as Markdown, by its own script."""
    admin, path = people["admin"], f"/api/v2/dags/{DRAIN}/dagRuns"
    context["ti"].dag_id, context["ti"].run_id = DRAIN, "hostile"
    with pytest.raises(SluiceError) as error:
        world.drain("zurich")
    # A drain that stops deletes the runs of its DAG that have not begun.
    admin.ask(path, "POST", dag_run("hostile", {}))
    admin.ask(path, "POST", dag_run("hostile_again", {}))
    # The job's words, without its Spark.
    (world.path / "said").write_text(f"{error.value}\n")
    (world.path / "drain.py").write_text(
        "import sys; sys.stderr.write(open(f'{sys.path[0]}/said').read()); sys.exit(3)"
    )
    task = SluiceSparkOperator(task_id="drain", job="drain", arguments={"source": SOURCE, "slave": "zurich"})
    task.jobs = world.path
    with pytest.raises(JobFailed):
        task.execute(context)
    world.context.runs().note(f"{DRAIN}/hostile_again", f"SLC-140: {'; '.join(NAMES)}\nHINT: type: {NAMES[2]}")
    notes = [admin.ask(f"{path}/{run}")["note"] for run in ("hostile", "hostile_again")]
    assert [meant(note) for note in notes] == [set(), set()]
    assert not any(CONTROL.search(note) for note in notes)
    assert named(from_note(notes[0])) >= {NAMES[2], NAMES[4]}
    assert named(from_note(notes[1])) == ALL
    if not browser:
        return
    url = f"http://127.0.0.1:{address}"
    with logged_in(url, "admin", "canary-5f3a9c-password") as page:
        for run in ("hostile", "hostile_again"):
            page.goto(f"/dags/{DRAIN}/runs/{run}")
            note = page.get_by_role("button", name="Edit note").first.locator("..")
            expect(note).to_contain_text("SLC-")
            assert note.locator("a, img, h1, h2, table, script").all_inner_texts() == []


def look_at_pages(world, visit, address, *, all_of_them: bool) -> None:
    """Every route of the pages and of REST, for each slave, and with such names in its address."""
    client, store = visit("admin"), world.context.store
    seen: dict[str, set[str]] = {}
    faults: list[object] = []
    (report, *_) = client.get(f"/api/v1/comparisons/{SOURCE}").json()["comparisons"]
    refused = visit("vera").post(f"/api/v1/replications/{SOURCE}/{quote(NAMES[5], safe='')}/standby")
    assert refused.status_code == 403

    def look(name: str, url: str, **query: str) -> None:
        answer = client.get(url, params=query)
        kind = answer.headers["content-type"].partition(";")[0]
        if answer.status_code not in (200, 404, 409, 422):
            faults.append((url, answer.text))
        if kind == "application/json":
            faults.extend((url, found) for found in re.findall(r"[\x00-\x09\x0b-\x1f]", answer.text))
            found = named("\n".join(texts(answer.json())))
        elif kind == "text/html":
            page = Page(answer.text)
            faults.extend((url, fault) for fault in page.faults)
            found = page.named
        elif kind == "text/plain":
            faults.extend((url, line) for line in answer.text.splitlines() if not METRIC.fullmatch(line))
            found = set()
        else:
            assert kind in ("text/css", "application/vnd.apache.parquet"), url
            found = set()
        seen.setdefault(name, set()).update(found)

    gets = [route for route in routes() if "GET" in route.methods]
    for route in gets:
        number = {"number": str(report["report"] if "comparisons" in route.path else 1)}
        for slave in ("zurich", "geneva") if "{slave}" in route.path else ("zurich",):
            for name in NAMES if route.path.endswith(("/rows", "/{number}", "/repair")) else NAMES[:1]:
                query = {"source": SOURCE, "slave": slave, "table": str(TableName("public", name)), "row": "0"}
                look(f"{route.path}", at(route, slave=slave, **number), **query)
    for place, route in enumerate(gets):
        for name in NAMES if all_of_them else [NAMES[place % len(NAMES)]]:
            wrong = quote(name, safe="")
            query = dict.fromkeys(QUERIED, name)
            look("wrong", at(route, source=wrong, slave=wrong, name=wrong, number="1"), **query)
            look("wrong", at(route, number="1"), **query)
    number = updates.new(store, SOURCE)
    tables = [TableProgress(f"public.{name}", TableState.RUNNING, 6, 2, 40_000) for name in NAMES]
    updates.report(store, number, LoadProgress(7, 1, 2, 3, 4, 5, 6, by_table=tables))
    with store.begin() as connection:
        updates.record_event(connection, number, UpdateEvent.DUMP)
    filled = "UPDATE replication SET status = 'INITIAL', update_id = %s WHERE slave = 'zurich'"
    world.session("control").execute(filled, [number])
    look("loading", f"/replications/{SOURCE}/zurich")
    assert not faults
    assert {name for name, found in seen.items() if found == ALL} >= {*NAMING, "wrong", "loading"}


def texts(value: object) -> list[str]:
    """The texts of what was JSON."""
    if isinstance(value, dict):
        return [*value, *texts(list(value.values()))]
    return [text for each in value for text in texts(each)] if isinstance(value, list) else [str(value)]


def look_at_questions_and_files(world, tmp_path) -> None:
    """What people are asked about DDL and losses; CSV files, as a spreadsheet reads them."""
    (key,) = world.reader("control").execute("SELECT key FROM question WHERE state = 'WAITING'").fetchone()
    asked = ddl_questions.describe(world.context.store, world.pair("geneva"), key)
    assert (meant(asked["body"]), asked["subject"].isprintable()) == (set(), True)
    # As SQL quotes them.
    assert named(asked["body"].replace("''", "'")) == ALL
    for name in NAMES:
        narrow = made("ALTER TABLE {} ALTER {} TYPE varchar(5) USING left({}, 5)", name, name, name)
        world.session("geneva").execute(narrow)
    losses = column_losses.question(world.context, world.pair("geneva"))
    # A table of Markdown has no line within a cell, and no | in it.
    assert (meant(losses["body"], tables=1), named(losses["body"])) == (set(), ALL - {NAMES[3], NAMES[4]})
    events = [
        PackedEvent(
            cursor_at(1, number),
            EventKind.INSERT,
            TableName("public", name),
            event_body("public", name, [(name, b"", name.encode())]),
            0,
        )
        for number, name in enumerate(NAMES)
    ]
    logger = CsvLogger(CsvLog(schema="public", directory=str(tmp_path / "events")), {SOURCE: cursor_at(1)})
    asyncio.run(logger.take(SOURCE, LogSlice(cursor_at(1), cursor_at(2), tuple(events))))
    (file,) = (tmp_path / "events").iterdir()
    for text in (losses["report"], file.read_text()):
        header, *rows = csv.reader(io.StringIO(text, newline=""))
        cells = [cell for row in rows for cell in row]
        assert {len(row) for row in rows} == {len(header)}
        assert [cell for cell in cells if cell.startswith(tuple("=+-@\t\r\n"))] == []
        assert [cell for cell in cells if CONTROL.search(cell)] == []
        assert named("\n".join(cells)) >= ALL


def look_at_messages(world, connect, monkeypatch) -> None:
    """A mail, as a mail program reads it, and what Slack is sent."""
    found = alerts.look(world.context)
    assert found["began"] >= 2
    port = reserve_port()
    connect(
        "mails",
        conn_type="smtp",
        host="127.0.0.1",
        port=port,
        extra={"disable_ssl": True, "disable_tls": True, "from_email": "sluice@example.com"},
    )
    with mail_server(port) as server:
        receiver = AlertReceiver.parse("smtp://mails?to=dba@example.com")
        assert alert_operator._tell(receiver, found["subject"], found["text"]) == ""
    (mail,) = server.mails
    body = mail.get_body().get_content()
    page = Page(body)
    assert (page.faults, set(re.findall(r"<[^>]*>", body))) == ([], {"<pre>", "</pre>"})
    assert (mail["Subject"], page.named >= {NAMES[2], NAMES[4]}) == (found["subject"], True)
    sent = {}
    monkeypatch.setattr(alert_operator, "notifier", lambda _: sent.update)
    alert_operator._tell(AlertReceiver.parse("slack://ops?channel=x"), found["subject"], found["text"])
    fence, *lines, end = sent["alert_slack"].split("\n")
    assert (fence, end) == ("```", "```")
    assert not re.search(r"```|<|>", "\n".join(lines))
