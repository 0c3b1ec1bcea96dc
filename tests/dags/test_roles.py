"""Runs on Airflow's own database, asked for and answered over its own API server, with real jobs on real databases:
what people with and without a role of `command_roles` bring about."""

from __future__ import annotations

from contextlib import suppress
from threading import Event, Thread
from urllib.error import HTTPError

import httpx
import pytest
import yaml
from airflow.sdk.bases.operator import ExecutorSafeguard
from support.auth_managers import Person, expected, let_airflow_decide, rights_alone, try_to_cancel
from support.later import LATER
from support.pages import token
from support.world import SOURCE

from sluice.airflow_api.client import dag_run
from sluice.connections import ConnectionInfo
from sluice.model.statement import WantedStatement
from sluice.outside_text import from_note
from sluice.store import statement_results
from sluice_airflow import launch
from sluice_airflow.operator import SluiceSparkOperator

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
CANARY = "canary-5f3a9c-password"
DDL = "CREATE TABLE t (id int PRIMARY KEY, v text)"


@pytest.fixture
def world(build, address, people, connect, monkeypatch, jobs_here):
    """A slave that is asked about an ALTER; Airflow has its connections, and Airflow's own. Jobs do their
    work without Spark: who may have it done is asked in front of that."""
    # The same Airflow serves other tests, which may have left its drain on standby.
    people["admin"].ask("/api/v2/dags/drain__flights__zurich", "PATCH", {"is_paused": False})
    made = build(DDL, ["public.*"])
    made.configure(lambda settings: settings["replications"][0].update(alters="ask"))
    api = ConnectionInfo("http", "127.0.0.1", address, "", "admin", CANARY)
    made.infos[made.context.config.airflow_api] = api
    for name, info in made.infos.items():
        fields = {"host": info.host, "port": info.port, "schema": info.database, "login": info.login}
        connect(name, conn_type=info.conn_type, **fields, password=info.password, extra=info.extra)
    connect(made.context.config.spark, conn_type="spark_connect")
    monkeypatch.setattr(launch, "connect_environment", lambda _: {})
    file = made.path / "replication.yaml"
    file.write_text(yaml.safe_dump(made.settings))
    monkeypatch.setenv("SLUICE_CONFIG", str(file))
    monkeypatch.setenv("SLUICE_HOME", str(made.path))
    monkeypatch.setattr(ExecutorSafeguard, "test_mode", True)
    return made


@pytest.fixture
def go_on(bag, people):
    """Let a run that is there go on to its end, while somebody answers what it asks, or ends it there if nobody does;
    how its tasks ended, and its note.

    Args (of what it returns):
        done: the tasks that somebody marks as done, as a regular expression.
    """

    def going_on(dag_id: str, run_id: str, who: str = "", says: str = "Approve", done: str | None = None):
        from airflow.models.dagrun import DagRun
        from airflow.utils.session import create_session
        from sqlalchemy import select

        this = select(DagRun).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id)
        path, over = f"/api/v2/dags/{dag_id}/dagRuns/{run_id}", Event()

        def there(*, dag, session, **_):
            run = session.scalar(this)
            run.dag, run.state = dag, "running"
            return run

        def answer() -> None:
            task = f"{path}/taskInstances/answer"
            # On a machine with much to do Airflow may be slow to answer: then people try again.
            while not over.wait(0.2):
                with suppress(OSError):
                    if dag_id == "decide" and people["admin"].ask(task)["state"] == "awaiting_input":
                        if who:
                            people[who].ask(f"{task}/-1/hitlDetails", "PATCH", {"chosen_options": [says]})
                        else:
                            people["admin"].ask(path, "PATCH", {"state": "failed"})
                        return

        answers = Thread(target=answer)
        with pytest.MonkeyPatch.context() as patch:
            # Airflow would begin a new one.
            patch.setattr("airflow.models.dagrun.get_or_create_dagrun", there)
            # Airflow would write down the DAGs of this world, which has one slave. Other tests have forms for two.
            patch.setattr("airflow.dag_processing.dagbag.sync_bag_to_db", lambda *_: None)
            # So it need not read their files.
            patch.setattr("airflow.dag_processing.dagbag.BundleDagBag", lambda **_: None)
            answers.start()
            try:
                bag.dags[dag_id].test(mark_success_pattern=done)
            finally:
                over.set()
                answers.join()
        with create_session() as session:
            tasks = {ti.task_id: str(ti.state) for ti in session.scalar(this).get_task_instances(session=session)}
        return tasks, from_note(people["admin"].ask(path)["note"] or "")

    return going_on


def asked(world) -> int:
    """Let the slave ask about an ALTER; the command's key."""
    world.master.execute("ALTER TABLE t DROP v")
    world.publish()
    assert world.drain()["standby"].startswith("APPROVAL: ")
    (key,) = world.reader("control").execute("SELECT key FROM question WHERE state = 'WAITING'").fetchone()
    return key


def states(world) -> list[tuple[object, ...]]:
    return world.reader("control").execute("SELECT state FROM question").fetchall()


def refused(world) -> list[tuple[object, ...]]:
    """Who was refused what, as the audit trail has it."""
    told = "SELECT actor, split_part(detail, ':', 1) FROM audit WHERE event = 'refused' ORDER BY id"
    return world.reader("control").execute(told).fetchall()


def clear(person, dag_id: str, run_id: str, *tasks: str) -> None:
    wanted = {"dry_run": False, "dag_run_id": run_id, "only_failed": False, "include_downstream": True}
    person.ask(f"/api/v2/dags/{dag_id}/clearTaskInstances", "POST", {**wanted, "task_ids": list(tasks)})


def test_who_answers_without_a_role_is_refused_and_the_question_is_asked_again(world, people, go_on):
    run = f"flights__zurich__{asked(world)}"
    tasks, note = go_on("decide", run, "eva")
    assert tasks == {"question": "success", "answer": "success", "decide": "failed"}
    assert note.startswith("decide: SLC-380: eva, who answered the question, has the role user in Airflow, and decide")
    assert "clear the task `answer` of this run" in note
    assert (states(world), refused(world)) == ([("WAITING",)], [("eva", "decide")])
    clear(people["otto"], "decide", run, "answer")
    tasks, _ = go_on("decide", run, "otto")
    assert tasks == dict.fromkeys(["question", "answer", "decide"], "success")
    said = world.reader("control").execute("SELECT actor FROM audit WHERE event = 'approve'")
    assert (states(world), said.fetchall()) == ([("APPROVED",)], [("otto",)])


FORGED = {"chosen_options": ["Approve"], "responded_by_user": {"id": "otto", "name": "otto"}, "params_input": {}}


@pytest.mark.full(but=["she triggers it"])
@pytest.mark.parametrize(
    ("who", "answers", "done", "why"),
    [
        pytest.param("eva", "", None, "question: SLC-300: eva has the role user", id="she triggers it"),
        pytest.param(
            "eva", "otto", "question", "decide: SLC-300: eva has the role user", id="and marks the check as done"
        ),
        pytest.param("otto", "", "answer", "decide: SLC-380: nobody has answered", id="she marks the question as done"),
    ],
)
def test_nothing_is_decided_by_who_has_no_role(world, people, go_on, who, answers, done, why):
    conf = {"source": SOURCE, "slave": "zurich", "change": asked(world)}
    runs = "/api/v2/dags/decide/dagRuns"
    run = people[who].ask(runs, "POST", dag_run(f"{who}s__{conf['change']}__{done}", conf))["dag_run_id"]
    if done:
        # Results of tasks can be edited.
        forged = {"question": {"subject": "Lunch", "body": "Pizza?"}, "answer": FORGED}[done]
        result = {"key": "return_value", "value": forged}
        people["eva"].ask(f"{runs}/{run}/taskInstances/{done}/xcomEntries", "POST", result)
    tasks, note = go_on("decide", run, answers, done=done)
    assert tasks["decide"] in ("failed", "upstream_failed")
    assert note.startswith(why)
    assert states(world) == [("WAITING",)]


@pytest.mark.full
def test_a_command_is_not_carried_out_again_for_who_clears_it(world, people, go_on):
    begun = dag_run("ottos__1", {"source": SOURCE})
    assert people["otto"].ask("/api/v2/dags/bootstrap/dagRuns", "POST", begun)["dag_run_id"] == "ottos__1"
    assert go_on("bootstrap", "ottos__1")[0] == {"bootstrap": "success"}
    clear(people["eva"], "bootstrap", "ottos__1", "bootstrap")
    tasks, note = go_on("bootstrap", "ottos__1")
    assert tasks == {"bootstrap": "failed"}
    assert note.startswith("SLC-382: tasks of bootstrap/ottos__1 were cleared")


@pytest.mark.full
def test_nothing_is_done_for_nobody_without_a_role_nor_what_another_person_asked_for(world, people, go_on):
    def begin(dag_id: str, **conf: object):
        begun = dag_run(f"evas__{dag_id}__{conf.get('statement', 0)}", {"source": SOURCE, **conf})
        run = people["eva"].ask(f"/api/v2/dags/{dag_id}/dagRuns", "POST", begun)["dag_run_id"]
        tasks, note = go_on(dag_id, run)
        return tasks[dag_id], note

    state, note = begin("repair", slave="zurich")
    assert state == "failed"
    assert note.startswith("SLC-300: eva has the role user in Airflow, and repair needs one of these")
    assert refused(world) == [("eva", "repair")]
    # Where everybody may trigger every run, nobody executes what was asked for in the name of somebody else.
    world.configure(lambda settings: settings.update(command_roles=[]))
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings))
    found = {}
    for who in ("ada", "eva"):
        wanted = WantedStatement(f"INSERT INTO t VALUES (1, '{who}')")
        number = statement_results.begin(world.context.store, SOURCE, ["zurich"], wanted, who, begun=False)
        state, note = begin("statement", statement=number)
        found[who] = (state, note.partition(",")[0].replace(str(number), "N"))
    assert found == {
        "ada": ("failed", "SLC-363: this run does not execute statement N: ada asked for it"),
        "eva": ("success", "statement N was executed on flights; its slaves follow"),
    }
    assert world.master.execute("SELECT v FROM t").fetchall() == [("eva",)]


def test_what_follows_a_command_is_one_itself_or_holds_to_the_update_of_its_run(bag):
    """Anybody who may edit a run may mark its first task, which looks who triggered it, as done."""
    commanded = {
        dag_id: [task for task in dag.topological_sort() if isinstance(task, SluiceSparkOperator)]
        for dag_id, dag in bag.dags.items()
        if any(getattr(task, "command", False) for task in dag.tasks)
    }
    commands = {"administer", "approve_losses", "bootstrap", "cancel_update", "decide", "initial_update", "repair"}
    commands |= {"statement", "upgrade_master"}
    assert commanded.keys() == commands
    assert [dag_id for dag_id, (first, *_) in commanded.items() if not first.command] == []
    held = {task.job for _, *later in commanded.values() for task in later if not task.command}
    assert held == LATER.keys()


READ, EDIT, TRIGGER = (f"initial_update {right}" for right in ("GET", "PUT", "POST RUN"))
BY_RIGHTS = {
    "nora": {"verify GET", "administer GET"},
    "vito": {READ},
    "edda": {READ, EDIT},
    "tina": {READ, EDIT, TRIGGER},
    "dora": {READ, "administer POST RUN", "cancel_update POST RUN"},
}


@pytest.mark.parametrize(
    ("manager", "allowed", "not_allowed"),
    [("simple", "admin otto eva", "vera"), ("rights alone", "dora", "nora vito edda tina")],
)
def test_airflow_is_asked_who_may_trigger_a_command(world, address, people, manager, allowed, not_allowed):
    let_airflow_decide(world, **dict.fromkeys(f"{allowed} {not_allowed}".split(), "admin"))
    if manager == "simple":
        done = try_to_cancel(address, {name: token(people, name) for name in people})
    else:
        with rights_alone(BY_RIGHTS) as (_, tokens):
            done = try_to_cancel(address, tokens)
    assert done == expected(allowed=allowed, refused=not_allowed)
    assert {who for who, _ in refused(world)} == set(not_allowed.split())


@pytest.fixture
def pages_of(address):
    """Who is answered on each page with 200, of everybody with a right there."""

    def asking(tokens: dict[str, str], path: str, method: str = "GET") -> tuple[str, dict[str, httpx.Response]]:
        answers = {
            who: httpx.request(
                method,
                f"http://127.0.0.1:{address}/sluice{path}",
                headers={"Authorization": f"Bearer {theirs}"},
                timeout=60,
            )
            for who, theirs in tokens.items()
        }
        return " ".join(who for who, answer in answers.items() if answer.status_code == 200), answers

    return asking


SHOWN = {"/": "vito edda tina dora", "/api/v1/replications": "vito edda tina dora", "/initial-update": "tina dora"}
SHOWN["/audit"] = SHOWN["/api/v1/audit"] = "dora"


@pytest.mark.full
def test_pages_go_by_what_airflow_lets_people_do_if_they_have_no_roles(world, address, people, pages_of):
    simple = {"otto": token(people, "otto")}
    with rights_alone(BY_RIGHTS) as (manager, tokens):
        for path in SHOWN:
            # Nobody comes in before the configuration says so.
            allowed, answers = pages_of(tokens, path)
            assert (allowed, {answer.status_code for answer in answers.values()}) == ("", {403}), path
            assert "`command_roles: airflow`" in answers["dora"].text.replace("&#39;", "'"), path
        let_airflow_decide(world)
        assert {path: pages_of(tokens, path)[0] for path in SHOWN} == SHOWN
        standby = f"/api/v1/replications/{SOURCE}/zurich/standby"
        answers = pages_of(tokens, standby, "POST")[1]
        codes = {who: answer.json().get("code") for who, answer in answers.items()}
        # Airflow itself is asked as well, about the drain's DAG.
        assert codes == {"nora": 300, "vito": 300, "edda": 915, "tina": 915, "dora": 915}
        assert world.reader("control").execute("SELECT kind FROM hold").fetchall() == []
        assert pages_of(simple, "/")[1]["otto"].status_code == 401, "a token of another auth manager"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Person, "roles", ["Op"], raising=False)
            named = {path: pages_of(tokens, path)[0] for path in ("/initial-update", "/audit")}
            assert named == {"/initial-update": " ".join(tokens), "/audit": ""}, "roles count where there are some"
        manager.says = "yes"
        # An answer counts for a while, and for one configuration.
        let_airflow_decide(world)
        assert pages_of(tokens, "/")[0] == "", "what is no yes"
        manager.fails = ConnectionError("https://token@keys.example refused")
        let_airflow_decide(world)
        for path in SHOWN:
            answer = pages_of(tokens, path)[1]["dora"]
            assert (answer.status_code, "token@" in answer.text) == (503, False)
            assert "manager does not say whether dora may trigger administer: ConnectionError" in answer.text
    assert pages_of(tokens, "/")[1]["dora"].status_code == 401, "a token of another auth manager"


@pytest.mark.full(but=["roles"])
@pytest.mark.parametrize(
    ("manager", "roles", "state", "why"),
    [
        pytest.param("other.Manager", ["op"], "WAITING", "question: SLC-301: the roles of eva are not", id="roles"),
        pytest.param("other.Manager", "airflow", "APPROVED", "", id="other"),
        pytest.param("", "airflow", "APPROVED", "", id="simple"),
    ],
)
def test_commands_are_for_whom_airflow_lets_trigger_them(world, people, go_on, monkeypatch, manager, roles, state, why):
    name = f"{manager}_{len(roles)}"
    world.configure(lambda settings: settings.update(command_roles=roles))
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings))
    if manager:
        monkeypatch.setenv("AIRFLOW__CORE__AUTH_MANAGER", manager)
    conf = {"source": SOURCE, "slave": "zurich", "change": asked(world)}
    runs = "/api/v2/dags/decide/dagRuns"
    with pytest.raises(HTTPError, match="403"):
        people["vera"].ask(runs, "POST", dag_run(f"veras__{name}", conf))
    run = people["eva"].ask(runs, "POST", dag_run(f"evas__{name}", conf))["dag_run_id"]
    tasks, note = go_on("decide", run, "" if why else "eva")
    assert (states(world), note.startswith(why)) == ([(state,)], True), (tasks, note)
    if not why:
        clear(people["eva"], "decide", run, "question")
        assert go_on("decide", run)[1].startswith("question: SLC-382: tasks of decide/evas")
