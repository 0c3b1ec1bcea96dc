"""What a slave's columns would lose is told before anything is touched, and lost only where somebody allows it (R7)."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.updating import blocks_here
from support.world import SOURCE, result

from sluice.cli import parser
from sluice.errors import SluiceError
from sluice.initial_update import column_losses
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.dump import ONLINE
from sluice.model.names import TableName
from sluice.monitor import check
from sluice.state.replication import ReplicationEvent, Status
from sluice.store import replications
from sluice.vendors.postgresql.master import PostgresMaster

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE prices (id int PRIMARY KEY, price numeric, "the ""title" text, note text);
CREATE TABLE codes (code varchar(9) PRIMARY KEY, stamp timestamp);
INSERT INTO prices VALUES (1, 1.256, 'longer', 'as it is');
INSERT INTO codes VALUES ('abcdef');
"""
NARROW = """
CREATE TABLE prices (id int PRIMARY KEY, price numeric(6,2), title varchar(4), note text);
CREATE TABLE codes (code varchar(5) PRIMARY KEY, stamp date);
"""


@pytest.fixture
def world(updating):
    made = updating(DDL, ["public.prices", "public.codes"])
    made.reader("zurich").execute(NARROW)
    titled = {"public.prices": {"columns": {'the "title': "title"}}}
    made.configure(lambda settings: settings["slaves"]["zurich"].update(tables=titled))
    replications.record(made.context.store, made.pair("geneva"), ReplicationEvent.BREAK, "nobody fills it")
    return made


def values(world):
    return world.reader("zurich").execute("SELECT price::text, title FROM prices ORDER BY id").fetchall()


def test_all_that_would_be_lost_is_told_at_once_and_nothing_is_touched(world):
    told = (
        "public.prices.price (numeric -> numeric(6,2): it would lose digits behind the point from number 3 on and "
        "numbers with more than 4 digits before it); "
        "public.prices.title (text -> character varying(4): it would lose what is longer than 4); "
        "public.codes.code (character varying(9) -> character varying(5): it would lose what is longer than 5 and with "
        "it the key); "
        "public.codes.stamp (timestamp without time zone -> date: it would lose what is no date)"
    )
    world.reader("zurich").execute("INSERT INTO prices VALUES (-1, 1, 'old', 'mine')")
    with pytest.raises(SluiceError, match="SLC-220") as caught:
        world.inhibit("zurich")
    assert told in caught.value.fact
    assert values(world) == [("1.00", "old")]
    (file,) = re.findall(r"The report is (\S+)", caught.value.fact)
    assert Path(file).parent == world.path / "reports"
    rows = list(csv.DictReader(io.StringIO(Path(file).read_text(encoding="utf-8"))))
    assert [(row["table"], row["column"], row["cast"]) for row in rows] == [
        ("public.prices", "price", '"price"::numeric(6,2)'),
        ("public.prices", "title", '"the ""title"::character varying(4)'),
        ("public.codes", "code", '"code"::character varying(5)'),
        ("public.codes", "stamp", ""),
    ]
    found = {one.subject: one for one in check.findings(world.context)}["slave zurich"]
    assert (found.good, told in found.text) == (False, True)


@pytest.mark.full
def test_what_somebody_allows_is_rounded_and_cut_everywhere_until_a_column_changes(world):
    world.reader("zurich").execute("ALTER TABLE codes ALTER stamp TYPE timestamp")
    shown = result(world.job("losses", "--slave=zurich"))
    assert "| `public.prices` | `title` | `text` | `character varying(4)` | `what is longer than 4` |" in shown["body"]
    with pytest.raises(SluiceError, match=r"SLC-221: .*is not what"):
        column_losses.allow(world.context, world.pair("zurich"), "what somebody else was shown", "eva")
    told = ("--slave=zurich", f"--shown={shown['shown']}", "--who=eva")
    assert result(world.job("allow", *told, "--answer=Reject")) == {"allowed": 0}
    said = world.job("allow", *told, "--answer=Approve")
    by_hand = f'airflow dags trigger initial_update --conf \'{{"source": "{SOURCE}", "slaves": ["zurich"]}}\''
    assert result(said) == {"allowed": 3, "next": by_hand}
    world.update("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    world.master.execute("INSERT INTO prices VALUES (2, 2.255, 'more of it', 'as it is')")
    assert world.verify("zurich") == {"zurich": 0}
    assert values(world) == [("1.26", "long"), ("2.26", "more")]
    audit = "SELECT actor FROM audit WHERE event = 'allow' AND detail LIKE '%public.codes.code%'"
    assert world.reader("control").execute(audit).fetchall() == [("eva",)]

    world.reader("zurich").execute("ALTER TABLE prices ALTER title TYPE text")
    world.update("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert values(world) == [("1.26", "longer"), ("2.26", "more of it")]
    world.reader("zurich").execute("ALTER TABLE prices ALTER price TYPE numeric(6,1)")
    with pytest.raises(SluiceError, match=r"SLC-220: (?!.*codes).*public.prices.price"):
        world.inhibit("zurich")


@pytest.mark.full
def test_a_person_at_a_shell_sees_what_would_be_lost_and_allows_it(world, monkeypatch, capsys):
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SLUICE_RUN", raising=False)
    monkeypatch.setenv("USER", "eva")

    def said(*options):
        code = parser.main(["losses", SOURCE, "zurich", *options])
        return code, capsys.readouterr().out

    with pytest.raises(SluiceError, match=rf"type: \./sluice losses {SOURCE} zurich --allow\. .*approve_losses"):
        world.inhibit("zurich")
    code, text = said()
    assert code == 1
    assert (
        "public.prices.title (text -> character varying(4): it would lose what is longer than 4): nobody allowed"
        in text
    )
    assert "what is no date): nobody can allow it: alter the table" in text
    assert f"type: ./sluice losses {SOURCE} zurich --allow" in text
    code, text = said("--allow")
    assert code == 0
    assert "public.codes,code,character varying(9),character varying(5)," in text
    assert "allowed: 3 columns" in text
    world.reader("zurich").execute("ALTER TABLE codes ALTER stamp TYPE timestamp")
    assert said()[0] == 0

    # So is a part of values that a master's log does not have, as the catalog of its vendor says.
    asked = PostgresMaster.columns

    def lacking(self, tables):
        found = asked(self, tables)
        return {
            name: [replace(one, dropped="its zone" * (one.name == "note")) for one in found[name]] for name in found
        }

    monkeypatch.setattr(PostgresMaster, "columns", lacking)
    with pytest.raises(SluiceError, match=r"values: public.prices.note \(text -> text: .* lose its zone"):
        world.inhibit("zurich")
    assert said("--allow")[0] == 0
    assert said()[0] == 0
    world.update("zurich")
    assert values(world) == [("1.26", "long")]
    assert world.reader("zurich").execute("SELECT note FROM prices").fetchall() == [("as it is",)]
    actors = world.reader("control").execute("SELECT DISTINCT actor FROM audit WHERE event = 'allow'").fetchall()
    assert actors == [("eva",)]


@pytest.mark.full
def test_people_are_asked_about_an_update_that_was_refused_and_it_runs_again_if_they_allow_it(world, airflow):
    world.infos[world.context.config.airflow_api] = airflow.info()
    zurich = world.reader("zurich")

    def refused():
        with pytest.raises(SluiceError, match="SLC-220") as caught:
            world.inhibit("zurich", resume=True)
        return caught.value.hint

    def allowed(number):
        shown = result(world.job("losses", "--slave=zurich", f"--refused={number}"))
        said = ("--slave=zurich", f"--shown={shown['shown']}", "--who=eva", "--answer=Approve", f"--refused={number}")
        return shown["body"], result(world.job("allow", *said))["next"]

    assert "people are asked" not in refused()
    assert airflow.runs == [], "nobody can allow that a timestamp becomes a date"
    zurich.execute("ALTER TABLE codes ALTER stamp TYPE timestamp")
    assert "people are asked in Airflow (Required actions of approve_losses)" in refused()
    assert world.status("zurich") is Status.NORMAL
    (question,) = airflow.runs
    number = question["conf"]["refused"]
    asked, name = {"source": SOURCE, "slave": "zurich", "refused": number}, f"{SOURCE}__zurich__{number}"
    assert (question["dag_id"], question["dag_run_id"], question["conf"]) == ("approve_losses", name, asked)
    body, following = allowed(number)
    assert "If you approve, the initial update that was refused runs again at once." in body
    assert following == f"initial_update/{name}"
    again = airflow.runs[-1]
    assert (again["dag_id"], again["dag_run_id"]) == ("initial_update", name)
    assert again["conf"] == {"source": SOURCE, "slaves": ["zurich"], "resume": True}
    world.update("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    zurich.execute("ALTER TABLE prices ALTER price TYPE numeric(6,1)")
    body, following = allowed(number)
    assert "runs again" not in body
    assert following.startswith("airflow dags trigger initial_update")
    assert len(airflow.runs) == 2


PARTS = {
    "some tables": ({"tables": [TableName("public", "prices")]}, {}, {"tables": ["public.prices"]}),
    "some keys": (
        {"keys": ["public.prices: 1 .. 2"]},
        {"mode": ONLINE},
        {"key_ranges": ["public.prices: 1 .. 2"], "mode": ONLINE},
    ),
}


@pytest.mark.full
@pytest.mark.parametrize(
    ("part", "how", "again", "wiped"),
    [(*PARTS["some tables"], True), (*PARTS["some keys"], False)],
    ids=["some tables of a slave that whole updates wipe out", "some keys"],
)
def test_an_update_of_a_part_is_refused_like_one_of_all_before_its_first_row(world, airflow, part, how, again, wiped):
    world.infos[world.context.config.airflow_api] = airflow.info()
    zurich = world.reader("zurich")
    zurich.execute("DROP TABLE prices, codes")
    world.update("zurich")
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    if wiped:
        wipe_out = {"schema": "public"}
        world.configure(lambda settings: settings["slaves"]["zurich"].update(wipe_out=wipe_out))
    zurich.execute("ALTER TABLE prices ALTER price TYPE numeric(6,1), ALTER title TYPE varchar(4) USING 'odd'")
    before = values(world)
    with pytest.raises(SluiceError, match=r"SLC-220: .*public.prices.title"):
        world.inhibit("zurich", **part)
    assert (values(world), world.status("zurich")) == (before, Status.NORMAL)
    (question,) = airflow.runs
    assert question["dag_id"] == "approve_losses"
    update = question["conf"]["refused"]
    shown = result(world.job("losses", "--slave=zurich", f"--refused={update}"))
    said = ("--slave=zurich", f"--shown={shown['shown']}", "--who=eva", "--answer=Approve", f"--refused={update}")
    assert result(world.job("allow", *said))["next"].startswith("initial_update/")
    assert airflow.runs[-1]["conf"] == {"source": SOURCE, "slaves": ["zurich"], **again}
    world.inhibit("zurich", **part)
    with world.running("zurich"):
        assert world.dump("zurich", **how)["failed"] == {}
        world.release("zurich")
        if how:
            load_online(world.context, SOURCE, ["zurich"], blocks_here)
    assert world.verify("zurich", initial=True, tables=(TableName("public", "prices"),)) == {"zurich": 0}
    assert values(world) == [("1.3", "long")]


def test_the_next_run_of_the_drain_asks_if_airflow_did_not_answer_when_an_update_was_refused(world, airflow):
    world.infos[world.context.config.airflow_api] = airflow.info()
    world.reader("zurich").execute("ALTER TABLE codes ALTER stamp TYPE timestamp")
    world.reader("geneva").execute("CREATE SCHEMA branch; CREATE TABLE branch.codes (other int)")
    airflow.refuses = True
    with pytest.raises(SluiceError, match=r"SLC-220: .*; slave geneva: SLC-073: .* lacks the column ") as caught:
        world.inhibit(mode=ONLINE)
    assert "people are asked" not in caught.value.hint
    world.drain("zurich")
    airflow.refuses = False
    airflow.runs.clear()
    for _ in range(2):
        for slave in world.slaves:
            world.drain(slave)
    (question,) = airflow.runs
    conf = {"source": SOURCE, "slave": "zurich", "refused": question["conf"]["refused"]}
    assert (question["dag_id"], question["conf"]) == ("approve_losses", conf)


@pytest.mark.full
def test_nobody_asks_later_about_an_update_that_another_took_the_place_of(world, airflow):
    world.infos[world.context.config.airflow_api] = airflow.info()
    zurich = world.reader("zurich")
    zurich.execute("ALTER TABLE codes ALTER stamp TYPE timestamp")
    airflow.refuses = True
    with pytest.raises(SluiceError, match="SLC-220"):
        world.inhibit("zurich")
    airflow.refuses = False
    airflow.runs.clear()
    zurich.execute("DROP TABLE prices, codes")
    world.update("zurich")
    world.drain("zurich")
    assert airflow.runs == []


def test_nobody_is_asked_about_what_cannot_be_allowed(world):
    world.reader("zurich").execute("DROP TABLE prices; ALTER TABLE codes ALTER code TYPE text")
    with pytest.raises(SluiceError, match="SLC-221"):
        column_losses.question(world.context, world.pair("zurich"))
