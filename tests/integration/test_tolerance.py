"""Rows of a slave that are not as expected: put right, refused, or left as they are while the change is kept."""

from __future__ import annotations

import json

import pytest
from support.world import SOURCE

from sluice.cli.parser import main
from sluice.config.configuration_text import CONFIG_ENV
from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError
from sluice.store import rejected_changes

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE heap (a int, b text)"


@pytest.fixture
def odd(build):
    """A world whose slave has been changed by hand since, and that takes it as it is told."""

    def made(way, mode="batch"):
        taken = {"on_missing": way, "on_duplicate": way}
        world = build(DDL, ["public.t", "public.heap"], slave={"tables": {"public.*": taken}})
        world.settings["replications"][0]["mode"] = mode
        world.configure(lambda plain: None)
        world.master.execute("INSERT INTO t SELECT g, 'a' FROM generate_series(1, 4) AS g")
        world.master.execute("INSERT INTO heap VALUES (1, 'x'), (1, 'x')")
        world.catch_up()
        world.reader("zurich").execute("DELETE FROM t WHERE id < 4; DELETE FROM heap; INSERT INTO t VALUES (8, 'own')")
        for statement in (
            "UPDATE t SET v = 'b' WHERE id = 1",
            "UPDATE t SET id = 7 WHERE id = 2; UPDATE t SET v = 'fine' WHERE id = 4",
            "DELETE FROM t WHERE id = 3; UPDATE heap SET b = 'y' WHERE ctid = (SELECT min(ctid) FROM heap)",
            "INSERT INTO t VALUES (8, 'theirs')",
        ):
            world.master.execute(statement)
        world.publish()
        return world

    return made


@pytest.mark.parametrize(("way", "counted"), [("warn", 5), ("upsert", 0)])
def test_rows_are_put_right_and_counted_where_that_is_worth_it(odd, way, counted):
    world = odd(way)
    assert world.drain()["tolerated"] == counted
    slave = world.reader("zurich").execute("SELECT * FROM t ORDER BY 1").fetchall()
    assert slave == [(1, "b"), (4, "fine"), (7, "a"), (8, "theirs")]


@pytest.mark.full(but=["batch"])
@pytest.mark.parametrize("mode", ["batch", "one_to_one"])
def test_a_slave_stops_in_front_of_the_transaction_where_that_is_wanted(odd, mode):
    world = odd("stop", mode)
    before = world.position()
    with pytest.raises(SluiceError, match=r"SLC-120: a row of public\.(t|heap) is missing, in front of change \d+"):
        world.drain()
    assert world.position() == before
    assert world.reader("zurich").execute("SELECT v FROM t WHERE id = 4").fetchone() == ("a",)


def interruption(*_):
    raise KeyboardInterrupt


def test_changes_that_were_rejected_are_kept_and_can_be_carried_out(odd, monkeypatch, capsys, tmp_path):
    world = odd("record", "one_to_one")
    world.drain()
    assert world.reader("zurich").execute("SELECT * FROM t ORDER BY 1").fetchall() == [(4, "fine"), (8, "own")]
    kept = rejected_changes.list_changes(world.context.store, world.pair("zurich"))
    told = [(one.change.layout.name.table, one.change.action, one.change.conflict) for one in kept]
    assert told == [
        ("t", "U", "missing"),
        ("t", "U", "missing"),
        ("t", "D", "missing"),
        ("heap", "U", "missing"),
        ("t", "I", "duplicate"),
    ]
    (tmp_path / "replication.json").write_text(json.dumps(world.settings))
    monkeypatch.setenv(CONFIG_ENV, str(tmp_path / "replication.json"))
    monkeypatch.setenv(SEALED_ENV, seal(world.infos))

    def run(*arguments):
        code = main(["rejected", SOURCE, "zurich", *map(str, arguments)])
        return code, capsys.readouterr()

    code, said = run()
    assert code == 1
    assert "public.t  duplicate\n  + id=8  v=theirs" in said.out
    assert run(kept[0].id, 999, "--drop") == (1, run(999, "--carry-out")[1])
    assert run(kept[2].id, "--drop")[0] == 0
    with monkeypatch.context() as interrupted:
        # The slave has it, and the store does not know.
        interrupted.setattr(rejected_changes.replications, "note", interruption)
        assert run(kept[3].id, "--carry-out")[0] == 130
    assert world.rows("zurich", "public.heap").total() == 1
    assert "carried out 4 changes; 3 rows were put right" in run("--carry-out")[1].out
    assert run() == (0, ("", ""))
    assert world.reader("zurich").execute("SELECT * FROM heap").fetchall() == [(1, "y")]
    slave = world.reader("zurich").execute("SELECT * FROM t ORDER BY 1").fetchall()
    assert slave == [(1, "b"), (4, "fine"), (7, "a"), (8, "theirs")]


UNTOLD = {
    "key checked late": "ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (id) DEFERRABLE",
    "a rule": "CREATE RULE r AS ON UPDATE TO t DO ALSO NOTIFY x; ALTER TABLE t ENABLE ALWAYS RULE r",
}


@pytest.mark.parametrize("own", UNTOLD.values(), ids=UNTOLD)
def test_a_table_whose_changes_cannot_be_looked_at_one_by_one_says_so(build, own):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"],
                  slave={"tables": {"public.t": {"on_missing": "record"}}})  # fmt: skip
    world.reader("zurich").execute(own)
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-121: public\.t cannot be written row by row"):
        world.drain()


NOTED = "INSERT INTO public.noted SELECT '{}', count(*) FROM public.t"
AROUND = {"before": {"U": NOTED.format("before U")}, "after": {"U": NOTED.format("after U"), "D": "CALL public.gone()"}}
NOTES = (
    "CREATE TABLE noted (what text, n int); CREATE PROCEDURE gone() LANGUAGE sql AS"
    " $$ INSERT INTO public.noted SELECT 'gone', count(*) FROM public.t $$"
)


@pytest.mark.full
def test_statements_before_and_after_each_change_are_part_of_its_transaction(build):
    world = build(DDL, ["public.t", "public.heap"], slave={"tables": {"public.t": AROUND}})
    for statement in ("INSERT INTO t VALUES (1, 'a'), (2, 'b')", "UPDATE t SET v = 'c'", "DELETE FROM t WHERE id = 1"):
        world.master.execute(statement)
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-162: what public\.t wants executed before U is refused.*noted"):
        world.drain()
    assert world.position().ordinal == 0
    slave = world.reader("zurich")
    slave.execute(NOTES)
    slave.execute("ALTER TABLE noted ADD CHECK (what <> 'gone')")
    with pytest.raises(SluiceError, match="violates check constraint"):
        world.drain()
    assert world.position().ordinal == 2
    assert slave.execute("SELECT count(*) FROM noted").fetchone() == (4,)
    slave.execute("ALTER TABLE noted DROP CONSTRAINT noted_what_check")
    world.drain()
    assert world.differences() == {}
    noted = slave.execute("SELECT what, n FROM noted").fetchall()
    assert noted == [("before U", 2), ("after U", 2)] * 2 + [("gone", 1)]
