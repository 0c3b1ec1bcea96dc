"""A slave that asks before it carries DDL of the master out: who is asked, what the answer does, and what is lost."""

from __future__ import annotations

import re

import pytest
from support.world import SOURCE

from sluice.commands import retry_rejected, unblock
from sluice.errors import SluiceError
from sluice.monitor import status
from sluice.state.ddl_question import Decision
from sluice.store import ddl_questions, rejected_changes

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text, n bigint)"


@pytest.fixture
def asking(build, airflow):
    """A world whose slave waits in front of an ALTER; and that command's key."""

    def made(policy="ask", **more):
        world = build(DDL, ["public.*"])
        world.configure(lambda settings: settings["replications"][0].update(alters=policy, drops=policy, **more))
        world.infos[world.context.config.airflow_api] = airflow.info()
        world.master.execute("INSERT INTO t VALUES (1, 'a', 1)")
        world.master.execute("INSERT INTO t VALUES (2, 'b', 2); ALTER TABLE t DROP v, ALTER n TYPE int")
        world.master.execute("INSERT INTO t VALUES (3, 3)")
        world.publish()
        return world

    return made


def key_of(world):
    (key,) = (
        world.reader("control").execute("SELECT key FROM question WHERE state IN ('WAITING', 'STOPPED')").fetchone()
    )
    return key


def slave(world):
    return world.reader("zurich").execute("SELECT * FROM t ORDER BY id").fetchall()


def test_people_are_asked_once_and_the_slave_goes_on_when_they_approve(asking, airflow):
    world = asking()
    assert world.drain()["standby"].startswith(
        "APPROVAL: the master's ALTER of public.t in transaction 2. Lost with it"
    )
    assert slave(world) == [(1, "a", 1)], "what comes before is delivered"
    world.drain()
    assert [(run["dag_run_id"], run["conf"]["change"]) for run in airflow.runs] == [
        (f"flights__zurich__{key_of(world)}", key_of(world))
    ]
    assert not airflow.paused
    (told,) = status.statuses(world.context)
    assert told.dispatcher == "STANDBY (APPROVAL)"
    assert f"`./sluice dispatcher flights zurich --approve {key_of(world)}`" in told.why
    page = ddl_questions.describe(world.context.store, world.pair("zurich"), key := key_of(world))
    assert page["subject"] == "ALTER of public.t on zurich"
    assert "    the column v with its values\n    what integer does not hold of the column n" in page["body"]
    assert "    ALTER TABLE t DROP v" in page["body"]
    assert "INSERT" not in page["body"], "what else the client sent stays on the master"
    unblock.decide(world.context, world.pair("zurich"), key, Decision.APPROVE, "eva")
    with pytest.raises(SluiceError, match=r"SLC-172: .* it is APPROVED"):
        unblock.decide(world.context, world.pair("zurich"), key, Decision.REJECT)
    world.drain()
    assert world.differences() == {}
    audit = world.reader("control").execute("SELECT actor, event FROM audit WHERE event IN ('question', 'approve')")
    assert [event for _, event in audit.fetchall()][-1:] == ["approve"]
    assert world.reader("control").execute("SELECT count(*) FROM question").fetchone() == (0,)


def test_what_is_rejected_is_passed_over_and_kept_to_be_carried_out_later(asking):
    world = asking()
    world.master.execute("DROP TABLE t")
    world.publish()
    world.drain()
    unblock.decide(world.context, world.pair("zurich"), key_of(world), Decision.APPROVE)
    world.drain()
    assert slave(world) == [(1, 1), (2, 2), (3, 3)]
    unblock.decide(world.context, world.pair("zurich"), key_of(world), Decision.REJECT)
    world.drain()
    assert slave(world) == [(1, 1), (2, 2), (3, 3)]
    (kept,) = rejected_changes.list_changes(world.context.store, world.pair("zurich"))
    assert (kept.change.action, kept.change.conflict) == ("X", None)
    assert retry_rejected.carry_out(world.context, world.pair("zurich"), [kept.id]) == (1, 0)
    assert world.reader("zurich").execute("SELECT to_regclass('t')").fetchone() == (None,)


def test_with_stop_the_drain_ends_and_the_command_line_decides(asking, airflow):
    world = asking("stop")
    with pytest.raises(
        SluiceError, match=r"SLC-143: the master's ALTER of public\.t .* waits for a decision"
    ) as stopped:
        world.drain()
    assert (airflow.runs, airflow.paused) == ([], True)
    assert f"--approve {key_of(world)}`" in stopped.value.hint
    assert not re.search("--remove-first|--skip", stopped.value.hint), "either throws the command away"
    unblock.decide(world.context, world.pair("zurich"), key_of(world), Decision.APPROVE)
    airflow.paused = False
    world.drain()
    assert world.differences() == {}


@pytest.mark.full
def test_without_an_answer_of_airflow_the_next_run_asks_again(asking, airflow):
    world = asking()
    airflow.refuses = True
    world.drain()
    airflow.refuses = False
    world.drain()
    world.drain()
    assert len(airflow.runs) == 2
    assert SOURCE in airflow.runs[0]["dag_run_id"]


# What the owner of a table may call a column of it: lines, pictures from elsewhere, text that runs backwards.
ODD = "v\nHINT: x\n\n![x](http://elsewhere/)<img src=x>\u202e\x1b[2J"


@pytest.mark.full
def test_names_of_others_cannot_speak_in_the_place_of_a_question(asking):
    world = asking()
    world.drain()
    unblock.decide(world.context, pair := world.pair("zurich"), key_of(world), Decision.APPROVE)
    world.drain()
    world.master.execute(f'ALTER TABLE t ADD "{ODD}" text')
    world.master.execute(f'ALTER TABLE t DROP "{ODD}" /* {"x" * 3_000_000} */')
    world.publish()
    for answer in (Decision.APPROVE, Decision.APPROVE):
        world.drain()
        page = ddl_questions.describe(world.context.store, pair, key_of(world))
        (told,) = status.statuses(world.context)
        for text in (page["body"], page["subject"], told.why):
            assert len(text) < 100_000
            assert not {"\u202e", "\x1b"} & set(text)
            assert "\nHINT: x" not in text
        shown = [line for line in page["body"].splitlines() if "elsewhere" in line]
        assert all(line.startswith("    ") for line in shown), "as it is, in a block of code"
        unblock.decide(world.context, pair, key_of(world), answer)
    assert "elsewhere" in page["body"]
