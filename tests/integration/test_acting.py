"""What others make act on tables of a slave is seen before it acts, however late it comes (R8)."""

from __future__ import annotations

import json

import pytest
from support.updating import blocks_here, compare_here
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.initial_update.blocks.load import load_online
from sluice.initial_update.inhibit import inhibit
from sluice.monitor.check import findings
from sluice.repair.run import RepairRequest, repair
from sluice.vendors.postgresql.catalog.row_identity import UNFINISHED
from sluice.vendors.postgresql.load.blocks import PostgresBlocks
from sluice.vendors.postgresql.load.keys import PostgresRepair
from sluice.vendors.postgresql.load.receiver import PostgresReceiver
from sluice.vendors.postgresql.write.one_to_one import OneToOne

pytestmark = [pytest.mark.postgres]

PARTED = " PARTITION BY RANGE (id); CREATE TABLE p PARTITION OF t FOR VALUES FROM (0) TO (1000)"
# A trigger that would forge rows, or a rule that would throw them away.
FORGING = """
CREATE FUNCTION own.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.v := 'forged'; RETURN NEW; END $$;
CREATE TRIGGER z BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION own.f()
"""
MADE = {
    "trigger": FORGING,
    "rule": "CREATE RULE z AS ON INSERT TO t DO INSTEAD NOTHING",
    # As if a master captured with it.
    "trigger of a queue": "CREATE TABLE own.queue (); " + FORGING.replace("own.f()", "own.capture_1()"),
}
ALWAYS = "; ALTER TABLE t ENABLE ALWAYS {} z"


def adopt(world, *names):
    """Take tables of others on the slave as they are."""
    world.configure(lambda settings: settings["slaves"]["zurich"].update(adopt=names or ["public.t"]))


@pytest.mark.full
@pytest.mark.parametrize(
    ("mode", "moment", "on"),
    [
        ("batch", "between batches", "p"),
        ("one_to_one", "before a run", "t"),
        ("one_to_one", "between a look and a run", "p"),
    ],
)
def test_a_trigger_that_comes_later_stops_a_slave_whose_role_may_not_silence_it(
    build, weak, stranger, monkeypatch, mode, moment, on
):
    ddl = "CREATE TABLE t (id int PRIMARY KEY, v text)" + (PARTED if on == "p" else "")
    world = build(ddl, ["public.t"], elsewhere={"zurich": weak})
    world.configure(lambda settings: settings["replications"][0].update(mode=mode))
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    drain = world.drainer()
    drain.deliver()
    eve = stranger(world, f"GRANT TRIGGER ON {on} TO {{}}")
    forging, looked = FORGING.replace("ON t ", f"ON {on} "), OneToOne._opened
    world.master.execute("INSERT INTO t VALUES (2, 'b'); UPDATE t SET v = 'c' WHERE id = 1")
    world.publish()
    if moment == "between a look and a run":
        monkeypatch.setattr(OneToOne, "_opened", lambda *given: (looked(*given), eve.execute(forging))[0])
    else:
        eve.execute(forging)
    with pytest.raises(SluiceError, match=rf"SLC-074: z on public\.{on} of the slave would act") as found:
        drain.deliver() if moment == "between batches" else world.drainer().deliver()
    monkeypatch.undo()
    assert f'ALTER TABLE "public"."{on}" DISABLE TRIGGER z' in found.value.hint
    assert world.rows("zurich", "public.t").total() == 1
    world.reader("zurich").execute(f"ALTER TABLE {on} DISABLE TRIGGER z")
    world.catch_up()
    assert world.differences() == {}


# A capture of a master that the slave is as well: it changes no row, and has the rights of its owner.
CAPTURING = """
CREATE TABLE own.repl_queue ();
CREATE FUNCTION own.repl_capture_1() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
    $$ BEGIN PERFORM set_config('statement_timeout', '1d', false); RETURN NULL; END $$;
CREATE TRIGGER zcap AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION own.repl_capture_1()
"""


def test_a_trigger_counts_as_a_capture_by_the_owner_of_its_function(build, weak, stranger):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], elsewhere={"zurich": weak})
    eve = stranger(world, "GRANT USAGE ON SCHEMA public TO {0}; GRANT TRIGGER ON t TO {0}")
    eve.execute(CAPTURING)
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-074: zcap on public\.t of the slave would act"):
        world.drain()
    assert world.rows("zurich", "public.t").total() == 0
    eve.execute("RESET SESSION AUTHORIZATION")
    owner, login = f"eve_{world.infos['zurich'].database}", world.infos["zurich"].login
    eve.execute(f"GRANT {login} TO {owner}")
    world.drain()
    assert world.differences() == {}


@pytest.mark.parametrize(("role", "made"), [("weak", "rule"), ("quiet", "trigger"), ("quiet", "trigger of a queue")])
def test_what_others_let_act_always_runs_with_the_rights_of_no_drain(build, stranger, request, role, made):
    elsewhere = {"zurich": request.getfixturevalue(role)}
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], elsewhere=elsewhere)
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    adopt(world)
    owner = stranger(world, "ALTER TABLE t OWNER TO {0}; GRANT ALL ON t TO {me}; GRANT CREATE ON SCHEMA public TO {0}")
    owner.execute(MADE[made] + ALWAYS.format(made.partition(" ")[0]))
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.publish()
    code = 74 if role == "weak" else 372
    with pytest.raises(SluiceError, match=rf"SLC-0?{code}: .*z on public\.t") as found:
        world.drain()
    with pytest.raises(SluiceError, match=rf"SLC-0?{code}: .*z on public\.t"):
        inhibit(world.context, SOURCE, ["zurich"])
    assert world.rows("zurich", "public.t").total() == 1
    for statement in found.value.hint.split("tables: ")[1].split(". To let")[0].split("; or leave")[0].split("; "):
        owner.execute(statement)
    world.catch_up()
    assert world.differences() == {}


def test_what_our_own_role_lets_act_always_does(build, quiet):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], elsewhere={"zurich": quiet})
    world.reader("zurich").execute("CREATE SCHEMA own; " + FORGING + ALWAYS.format("TRIGGER"))
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    assert world.reader("zurich").execute("SELECT v FROM t").fetchall() == [("forged",)]


# A stranger was there first, under names that the master's tables and types will have.
TAKEN = {
    "table": "CREATE TABLE t (id int PRIMARY KEY, v text); GRANT ALL ON t TO PUBLIC",
    "as if an update had made it": "CREATE TABLE t (id int, v text); GRANT ALL ON t TO PUBLIC; "
    f"COMMENT ON TABLE t IS '{UNFINISHED}'",
    "domain": "CREATE DOMAIN d AS text CHECK (current_user <> 'me')",
    "table and domain": "CREATE TABLE t (id int PRIMARY KEY, v text); GRANT ALL ON t TO PUBLIC; "
    "CREATE DOMAIN d AS text",
    "partition": "RESET SESSION AUTHORIZATION; CREATE TABLE t (id int PRIMARY KEY, v text)"
    + PARTED
    + "; ALTER TABLE t OWNER TO {me}; ALTER TABLE p OWNER TO {eve}; GRANT ALL ON p TO {me}",
    "table of the database's owner": "RESET SESSION AUTHORIZATION; ALTER DATABASE {base} OWNER TO {eve}; "
    "GRANT ALL ON DATABASE {base} TO {me}; "
    "SET SESSION AUTHORIZATION {eve}; CREATE TABLE t (id int PRIMARY KEY, v text); GRANT ALL ON t TO PUBLIC",
}


@pytest.mark.full(but=["table", "domain"])
@pytest.mark.parametrize("made", TAKEN.values(), ids=TAKEN)
def test_what_others_made_under_a_name_of_the_masters_is_filled_only_once_somebody_says_so(
    updating, weak, stranger, made
):
    ddl = (
        "CREATE DOMAIN d AS text; CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE u (id int PRIMARY KEY, v d)"
    )
    world = updating(ddl, ["public.*"], {}, slaves=("zurich",), elsewhere={"zurich": weak})
    world.master.execute("INSERT INTO t VALUES (1, 'a'); INSERT INTO u VALUES (1, 'a')")
    eve = stranger(world, "GRANT USAGE, CREATE ON SCHEMA public TO {0}")
    slave = world.infos["zurich"]
    eve.execute(made.format(eve=f"eve_{slave.database}", me=slave.login, base=slave.database))
    with pytest.raises(SluiceError, match=r"SLC-664: .* public\.[tdp] of eve_") as refused:
        world.inhibit()
    taken = ["public.d"] * ("DOMAIN d" in made) + ["public.t"] * ("TABLE t" in made)
    assert f"adopt: {json.dumps(taken)}" in refused.value.hint
    (found,) = (one for one in findings(world.context) if one.subject == "slave zurich")
    assert not found.good
    assert "SLC-664" in found.text
    assert "name them in `adopt`" in found.text
    eve.execute("RESET SESSION AUTHORIZATION")
    eve.execute(
        refused.value.hint.partition("execute there, as a member of ")[2].partition(": ")[2].partition("; or name")[0]
    )
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}


def test_a_table_that_is_given_away_before_its_rows_come_gets_none(updating, stranger, monkeypatch):
    ddl = "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)"
    world = updating(ddl, ["public.t"], {}, slaves=("zurich",))
    admin, slave, begin = stranger(world, "SELECT"), world.infos["zurich"], PostgresReceiver.begin
    admin.execute("RESET SESSION AUTHORIZATION")

    def begun(*given):
        admin.execute(f"ALTER TABLE t OWNER TO eve_{slave.database}; GRANT ALL ON t TO {slave.login}")
        begin(*given)

    monkeypatch.setattr(PostgresReceiver, "begin", begun)
    with pytest.raises(SluiceError, match=r"SLC-664: .* public\.t of eve_"):
        world.update()
    assert world.rows("zurich", "public.t").total() == 0


@pytest.mark.parametrize("adopted", ["public.t", "public.la*"])
def test_a_table_of_others_is_not_taken_for_one_that_the_stream_brings(build, weak, stranger, adopted):
    ddl = "CREATE TABLE t (id int PRIMARY KEY)"
    world = build(ddl, ["public.*"], elsewhere={"zurich": weak})
    adopt(world, adopted)
    eve = stranger(world, "GRANT USAGE, CREATE ON SCHEMA public TO {0}")
    eve.execute("CREATE TABLE later (id int PRIMARY KEY); GRANT ALL ON later TO PUBLIC")
    world.master.execute("CREATE TABLE later (id int PRIMARY KEY); INSERT INTO later VALUES (1)")
    world.publish()
    if adopted == "public.t":
        with pytest.raises(SluiceError, match=r"SLC-664: .*later of eve_"):
            world.drain()
        eve.execute("DROP TABLE later")
    world.drain()
    assert world.differences() == {}


# What a foreign key of others runs with their rights leaves statements in the session that would run with ours.
REFERRING = """
CREATE TABLE own.ran (by name); GRANT INSERT ON own.ran TO PUBLIC;
CREATE FUNCTION own.run() RETURNS int LANGUAGE sql AS 'INSERT INTO own.ran VALUES (current_user) RETURNING 1';
CREATE FUNCTION own.leave() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE one text; given text; BEGIN
    FOR one, given IN SELECT name, array_to_string(parameter_types, ',') FROM pg_prepared_statements LOOP
        EXECUTE format('DEALLOCATE %I', one);
        EXECUTE format('PREPARE %I%s AS SELECT own.run()', one, '(' || NULLIF(given, '') || ')');
    END LOOP;
    PERFORM set_config('search_path', 'own', false), set_config('default_transaction_read_only', 'on', false);
    RETURN NULL;
END $$;
CREATE TABLE own.u (id int REFERENCES public.t ON DELETE CASCADE); INSERT INTO own.u VALUES (1);
CREATE TRIGGER z AFTER DELETE ON own.u FOR EACH ROW EXECUTE FUNCTION own.leave()
"""


@pytest.mark.parametrize("mode", ["batch", "one_to_one"])
def test_a_foreign_key_of_others_leaves_nothing_in_a_session_that_writes(build, weak, stranger, mode):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], elsewhere={"zurich": weak})
    world.configure(lambda settings: settings["replications"][0].update(mode=mode))
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.publish()
    drain = world.drainer()
    drain.deliver()
    eve = stranger(world, "GRANT USAGE ON SCHEMA public TO {0}; GRANT REFERENCES ON t TO {0}")
    eve.execute(REFERRING)
    for change in ("DELETE FROM t", "INSERT INTO t VALUES (2, 'b')", "UPDATE t SET v = 'c'"):
        world.master.execute(change)
        world.publish()
        drain.deliver()
    assert world.differences() == {}
    assert eve.execute("SELECT FROM own.ran").fetchall() == []
    assert eve.execute("SELECT FROM own.u").fetchall() == []


def brought_by_blocks(world):
    world.inhibit()
    world.dump(mode="online")
    world.release()
    yield PostgresBlocks
    load_online(world.context, SOURCE, world.slaves, blocks_here)


def brought_by_a_repair(world):
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}
    world.reader("zurich").execute("DELETE FROM t WHERE id = 1")
    yield PostgresRepair
    repair(world.context, RepairRequest(SOURCE, "zurich"), compare_here, patience_s=60)


@pytest.mark.full(but=["brought_by_blocks"])
@pytest.mark.parametrize("brought", [brought_by_blocks, brought_by_a_repair])
def test_a_trigger_that_comes_while_rows_wait_for_their_point_acts_on_none(
    updating, weak, stranger, monkeypatch, brought
):
    ddl = "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a')"
    world = updating(ddl, ["public.t"], {}, slaves=("zurich",), elsewhere={"zurich": weak})
    steps = brought(world)
    receiver = next(steps)
    eve = stranger(world, "GRANT USAGE ON SCHEMA public TO {0}; GRANT TRIGGER ON t TO {0}")
    write = receiver.write

    def written(*given):
        write(*given)
        eve.execute(FORGING)

    monkeypatch.setattr(receiver, "write", written)
    with world.running(), pytest.raises(SluiceError, match=r"SLC-074: z on public\.t of the slave would act"):
        next(steps)
    assert world.rows("zurich", "public.t").total() == 0


CODE = """
CREATE FUNCTION own.f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION own.g() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE FUNCTION own.same(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR own.=== (FUNCTION = own.same, LEFTARG = int, RIGHTARG = int);
CREATE DOMAIN own.d AS int CHECK (own.f(VALUE) > -1);
"""
PLACES = {
    "index": ("CREATE INDEX one ON t (own.f(id))", "own.f(integer) (index one)"),
    "operator": ("CREATE INDEX two ON t ((id OPERATOR(own.===) 1))", "own.same(integer,integer) (index two)"),
    "check": ("ALTER TABLE t ADD CONSTRAINT a CHECK (own.f(id) > -1)", "own.f(integer) (constraint a on table t)"),
    "default": ("ALTER TABLE t ADD d int DEFAULT own.f(1)", "own.f(integer) (default value for column d of table t)"),
    "generated": ("ALTER TABLE t ADD g int GENERATED ALWAYS AS (own.f(id)) STORED", "column g of table t)"),
    "statistics": ("CREATE STATISTICS three ON (own.f(id)), v FROM t", "own.f(integer) (statistics object three)"),
    "trigger": ("CREATE TRIGGER b AFTER INSERT ON t EXECUTE FUNCTION own.g()", "own.g() (trigger b on table t)"),
    "rule": ("CREATE RULE c AS ON INSERT TO t DO ALSO SELECT own.f(1)", "own.f(integer) (rule c on table t)"),
    "domain": ("ALTER TABLE t ADD n own.d", "own.f(integer) (constraint d_check)"),
}


def test_check_says_which_tables_run_functions_of_others(build, quiet, stranger):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], elsewhere={"zurich": quiet})
    adopt(world)
    owner = stranger(world, "ALTER TABLE t OWNER TO {0}; GRANT {0} TO {me}; GRANT CREATE ON SCHEMA public TO {0}")

    def said():
        (text,) = (one.text for one in findings(world.context) if one.subject == "slave zurich")
        return text.replace("public.", "").replace("own.d_check", "d_check")

    assert "functions of others" not in said()
    owner.execute(CODE)
    for made, _ in PLACES.values():
        owner.execute(made)
    text = said()
    assert "t belongs to eve_" in text
    assert {place for place, (_, told) in PLACES.items() if told not in text} == set()
