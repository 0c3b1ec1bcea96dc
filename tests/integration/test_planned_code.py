"""The planner runs functions that indexes, statistics, constraints and partition keys call: none of others as us."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from support.updating import compare_here, load_here
from support.waiting import until
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.monitor.check import findings
from sluice.monitor.status import statuses
from sluice.state.replication import Status
from sluice.vendors.postgresql.catalog import relations
from sluice.vendors.postgresql.read.estimate import foresee
from sluice.vendors.protocol.read import KeyRange
from sluice.vendors.registry import master

pytestmark = [pytest.mark.postgres]

# Where the session may not write, a superuser may still do this.
TENANT = """
    CREATE ROLE tenant; CREATE SCHEMA own AUTHORIZATION tenant; GRANT CREATE ON SCHEMA public TO tenant;
    CREATE SEQUENCE own.ran; GRANT ALL ON SEQUENCE own.ran TO PUBLIC; GRANT USAGE ON SCHEMA own TO PUBLIC;
    CREATE FUNCTION own.really() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
        PERFORM nextval('own.ran'); RETURN 0;
    EXCEPTION WHEN read_only_sql_transaction THEN
        EXECUTE format('COPY (SELECT 1) TO %L', current_setting('data_directory') || '/ran_' || current_database());
        RETURN 0;
    END $$;
    CREATE FUNCTION own.f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
        $$ BEGIN IF current_user <> 'tenant' THEN PERFORM own.really(); END IF; RETURN 0; END $$;
    CREATE FUNCTION own.same(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT own.f(1) = 0';
    CREATE OPERATOR own.@@@ (LEFTARG = int, RIGHTARG = int, FUNCTION = own.same);
    ALTER FUNCTION own.f OWNER TO tenant; ALTER FUNCTION own.same OWNER TO tenant;
"""
PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"
PARTED = """
    CREATE TABLE t (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
    CREATE TABLE part PARTITION OF t FOR VALUES FROM (0) TO (100)
"""
ON_A_TABLE = {
    "an index": "CREATE INDEX i ON {} ((own.f(1) + id))",
    "a condition": "CREATE INDEX i ON {} (id) WHERE own.f(1) = 0",
    "an operator": "CREATE INDEX i ON {} (id) WHERE 1 OPERATOR(own.@@@) 2",
    "statistics": "CREATE STATISTICS i ON (own.f(1) + id), (id + 1) FROM {}",
    "a constraint": "ALTER TABLE {} ADD CONSTRAINT i CHECK (own.f(1) = id - id)",
    "an exclusion": "ALTER TABLE {} ADD CONSTRAINT i EXCLUDE USING btree (id WITH =) WHERE (own.f(1) = 0)",
}
CODE = [(PLAIN, made.format("t")) for made in ON_A_TABLE.values()]
CODE += [(PARTED, ON_A_TABLE[name].format("part")) for name in ("a condition", "statistics", "a constraint")]
# Of a primary key no part may be computed.
KEYED_BY_CODE = """
    CREATE TABLE t (id int, v text) PARTITION BY RANGE (id);
    CREATE TABLE part PARTITION OF t FOR VALUES FROM (0) TO (100) PARTITION BY LIST ((own.f(1) + id));
    CREATE TABLE leaf PARTITION OF part DEFAULT
"""


@pytest.fixture
def owned(server):
    """Give the tables of a world to a tenant, who is dropped with it; a session of his."""
    made = []

    def own(world):
        info = world.infos["master"]
        with server.cluster.admin(info.database) as admin:
            made.append(info.database)
            admin.execute(TENANT.encode())
            admin.execute(f'GRANT tenant TO "{info.login}"')
            given = (
                "SELECT format('ALTER TABLE %s OWNER TO tenant', oid::regclass) FROM pg_class"
                " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
            )
            for (statement,) in admin.execute(given).fetchall():
                admin.execute(statement)
        session = world.session()
        session.execute("SET client_min_messages = error; SET ROLE tenant; SET constraint_exclusion = on")
        return session

    yield own
    for database in made:
        with server.cluster.admin(database) as admin:
            admin.execute("DROP OWNED BY tenant CASCADE; DROP ROLE tenant")


def ran(world):
    """Whether code of the tenant's ran with the rights of somebody else."""
    file = "SELECT pg_stat_file(current_setting('data_directory') || '/ran_' || current_database(), true) IS NOT NULL"
    with world.server.cluster.admin(world.infos["master"].database) as admin:
        return (True,) in (admin.execute("SELECT is_called FROM own.ran").fetchone(), admin.execute(file).fetchone())


@pytest.fixture
def filled(build, server, owned):
    """A world with two rows, watched and delivered, and a session of the tenant to whom the table belongs."""

    def fill(ddl, tables=("public.t",), **more):
        world = build(ddl, list(tables), **more)
        world.server = server
        world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')" if "TABLE t" in ddl else "SELECT")
        world.catch_up()
        return world, owned(world)

    return fill


def status(world, table="t"):
    return world.master.execute("SELECT status FROM repl_tables WHERE tablename = %s", [table]).fetchall()


def test_a_statement_runs_nothing_and_what_cannot_be_put_in_order_is_told(filled):
    cases = [[re.sub(r"\b(t|part|i)\b", rf"\g<1>{place}", one) for one in case] for place, case in enumerate(CODE)]
    rows = [f"INSERT INTO t{place} VALUES (1, 'a'), (2, 'b')" for place in range(len(CODE))]
    world, session = filled("; ".join([PLAIN, *(ddl for ddl, _ in cases), *rows]), ["public.*"])
    with world.session() as another:
        another.execute("SET client_min_messages = error; SET ROLE tenant; SET constraint_exclusion = on")
        for table, (_, code) in zip((f"t{place}" for place in range(len(CODE))), cases, strict=True):
            session.execute(code)
            another.execute(f"DELETE FROM {table} WHERE id = 1")
            assert status(world, table) == [("OK",)], code
            another.execute(f"BEGIN; INSERT INTO {table} VALUES (3, 'c'); DELETE FROM {table} WHERE id = 2; COMMIT")
            assert (ran(world), status(world, table)) == (False, [("LOST",)]), code
    world.publish()
    assert (len(world.left_out()), ran(world)) == (len(CODE), False)


STATISTICS = ON_A_TABLE["statistics"].format("t")
# What the session does that deletes, with a plan from before; what another one does meanwhile.
MEANWHILE = {
    "by a trigger of the same statement": (
        "BEGIN",
        """
        CREATE FUNCTION own.plant() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN CREATE STATISTICS IF NOT EXISTS i ON (own.f(1) + id), (id + 1) FROM t; RETURN NULL; END $$;
        GRANT CREATE ON SCHEMA own TO tenant;
        CREATE TRIGGER zz AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION own.plant()
        """,
    ),
    "by another session": ("BEGIN", STATISTICS),
    "by one that it does not see": ("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1", STATISTICS),
}


@pytest.mark.parametrize(("begin", "made"), MEANWHILE.values(), ids=MEANWHILE)
def test_what_is_made_after_a_plan_is_not_run_by_the_next(filled, begin, made):
    world, session = filled(PLAIN)
    with world.session() as another:
        another.execute("SET client_min_messages = error; SET ROLE tenant")
        another.execute("BEGIN; INSERT INTO t VALUES (3, 'c'), (4, 'd'), (5, 'e'); DELETE FROM t WHERE id > 3; COMMIT")
        assert status(world) == [("OK",)]
        another.execute(begin)
        session.execute(made)
        another.execute("INSERT INTO t VALUES (6, 'f'); DELETE FROM t WHERE id < 3; COMMIT")
    assert (ran(world), status(world)) == (False, [("LOST",)])


# What else reads rows of a table, or of a part of it.
READING = {
    "a rewriting ALTER": (PLAIN, "ALTER TABLE t ADD COLUMN r float DEFAULT random()"),
    "a partition that leaves": (PARTED, "ALTER TABLE t DETACH PARTITION part"),
    "a partition that is emptied": (PARTED, "TRUNCATE part"),
    "a partition that is dropped": (PARTED, "DROP TABLE part"),
    "a key that changes": (PLAIN, "UPDATE t SET id = id + 10"),
}
READ = [*((*case, True) for case in READING.values()), *((*READING[name], False) for name in [*READING][:2])]


@pytest.mark.parametrize(("ddl", "statement", "superuser"), READ)
def test_rows_are_not_read_whatever_becomes_of_their_table(filled, weak, ddl, statement, superuser):
    world, session = filled(ddl, elsewhere={} if superuser else {"master": weak})
    session.execute(f"CREATE INDEX i ON {'part' if ddl == PARTED else 't'} (v) WHERE own.f(1) = 0")
    with world.session() as another:
        another.execute("SET client_min_messages = error; SET ROLE tenant")
        another.execute(statement)
    for _ in range(2):
        world.publish()
    assert not ran(world)
    if not world.left_out():
        assert "DROP" in statement or "DETACH" in statement, "no row was left to be read"
        world.catch_up()
        assert world.differences() == {}


MADE = {
    "statistics": "CREATE TABLE w (id int); CREATE STATISTICS s ON (own.f(1) + id), (id + 1) FROM w",
    "a partition key": (
        "CREATE TABLE w (id int) PARTITION BY RANGE ((own.f(1) + id)); CREATE TABLE p PARTITION OF w DEFAULT"
    ),
}


@pytest.mark.parametrize("code", MADE.values(), ids=MADE)
def test_a_table_that_a_wildcard_takes_has_nothing_run(filled, code):
    world, session = filled(PLAIN, ["public.*"])
    session.execute(code)
    session.execute("INSERT INTO w VALUES (1), (2); UPDATE w SET id = 3 WHERE id = 1; DELETE FROM w")
    for _ in range(2):
        world.publish()
    assert not ran(world)
    assert world.status("zurich") is Status.NORMAL
    bootstrap(world.context, SOURCE, recreate_triggers=True)
    assert not ran(world)


def test_a_table_whose_partition_key_calls_code_of_others_cannot_be_named(filled):
    world, session = filled(PLAIN)
    session.execute(KEYED_BY_CODE.replace("TABLE t ", "TABLE u ").replace("OF t ", "OF u "))
    world.configure(lambda settings: settings["sources"][SOURCE]["tables"].update({"public.u": {}}))
    with pytest.raises(SluiceError, match=r"SLC-360: .* the partition key of table public.part calls own.f\(integer\)"):
        bootstrap(world.context, SOURCE)
    assert not ran(world)


@pytest.fixture
def compared(updating, server, owned):
    """A world whose slave was filled and is equal, and a session of the tenant to whom the table belongs."""
    world = updating(f"{PLAIN}; INSERT INTO t VALUES (1, 'a')", ["public.t"], {}, slaves=("zurich",))
    world.server = server
    world.update()
    world.catch_up()
    assert world.verify(initial=True) == {"zurich": 0}
    return world, owned(world)


@pytest.mark.full
def test_neither_an_initial_update_nor_a_comparison_begins_with_such_a_table(compared):
    world, session = compared
    for name, code in ON_A_TABLE.items():
        session.execute(code.format("t"))
        with pytest.raises(SluiceError, match="SLC-360"):
            world.inhibit()
        # A constraint is made on the slave, too, which has no such function.
        if "CONSTRAINT" not in code:
            with pytest.raises(SluiceError, match="SLC-360"):
                world.verify()
            session.execute("DROP STATISTICS i" if name == "statistics" else "DROP INDEX i")
        assert not ran(world), name
        session.execute("ALTER TABLE t DROP CONSTRAINT IF EXISTS i")


@pytest.mark.parametrize("kind", [pytest.param("an index", marks=pytest.mark.full), "statistics"])
def test_what_is_made_while_rows_are_read_is_not_run(compared, kind):
    """None of these waits for readers, and no snapshot that was taken before shows them."""
    world, session = compared

    def first(reads):
        def read(jobs):
            session.execute(ON_A_TABLE[kind].format("t"))
            return reads(jobs)

        return read

    with pytest.raises(SluiceError, match="SLC-360"):
        world.verify(compare=first(compare_here))
    session.execute("DROP STATISTICS i" if kind == "statistics" else "DROP INDEX i")
    world.inhibit()
    with pytest.raises(SluiceError, match="SLC-360"):
        world.dump(load=first(load_here))
    assert not ran(world)


FREE = ["DROP INDEX i", None, "ALTER FUNCTION own.f OWNER TO CURRENT_USER"]


def test_what_is_in_the_way_is_told_with_three_ways_out(compared):
    world, session = compared
    fact = "of public.t index public.i calls own.f(integer) of tenant"
    for number, free in enumerate(FREE):
        session.execute(ON_A_TABLE["a condition"].format("t"))
        assert bootstrap(world.context, SOURCE)["code_of_others"] == [fact]
        (standing,) = statuses(world.context)
        (told,) = standing.unwatched
        assert (fact in told, "trusted_code" in told, standing.well) == (True, True, False)
        found = {one.subject: one for one in findings(world.context)}[f"source {SOURCE}"]
        assert (found.good, "SLC-360" in found.text) == (False, True)
        trusted = [] if free else ["tenant"]
        world.configure(lambda settings, trusted=trusted: settings["sources"][SOURCE].update(trusted_code=trusted))
        world.master.execute(free or "SELECT")
        assert bootstrap(world.context, SOURCE)["code_of_others"] == []
        with world.session() as another:
            another.execute(
                f"BEGIN; INSERT INTO t VALUES ({number + 2}); DELETE FROM t WHERE id = {number + 1}; COMMIT"
            )
        assert status(world) == [("OK",)]
        assert (world.verify(), statuses(world.context)[0].unwatched) == ({"zurich": 0}, ())
        world.configure(lambda settings: settings["sources"][SOURCE].pop("trusted_code"))
        session.execute("DROP INDEX IF EXISTS i")


TWO_PARTS = f"{PARTED}; CREATE TABLE other PARTITION OF t FOR VALUES FROM (100) TO (200)"
# What the owner has under way when somebody comes who is to read his table, and waits for him.
UNDER_WAY = {
    "a view of its name": """ALTER TABLE t RENAME TO gone;
        CREATE VIEW t AS SELECT own.f(1) AS id, NULL::tid AS ctid, 0::oid AS tableoid, '5'::cid AS cmin""",
    "a policy": """ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
        CREATE POLICY p ON t USING (own.f(id) = 0)""",
    "an index": "LOCK TABLE other; CREATE INDEX i ON other (v) WHERE own.f(1) = 0",
}


def while_waited_for(world, session, statements, reads):
    """Begin what others wait for, let somebody wait, and commit."""
    session.execute(f"BEGIN; {statements}")
    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(reads)
        blocks = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid)))"
        until(lambda: reader.done() or world.master.execute(blocks, [session.info.backend_pid]).fetchone()[0])
        session.execute("COMMIT")
        reader.result()


@pytest.mark.parametrize("statements", UNDER_WAY.values(), ids=UNDER_WAY)
def test_a_partition_that_is_changed_has_nothing_read_that_came_while_we_waited(filled, weak, statements):
    """A change of a partition by its own name holds none of the others."""
    world, owner = filled(TWO_PARTS, elsewhere={"master": weak})
    with world.session() as writer:
        writer.execute("SET ROLE tenant; SET plan_cache_mode = force_generic_plan")
        writer.execute("BEGIN; INSERT INTO part VALUES (30, 'c'); UPDATE part SET v = 'd' WHERE id = 30; COMMIT")
        writer.execute("BEGIN; INSERT INTO part VALUES (31, 'e')")
        while_waited_for(world, owner, statements, lambda: writer.execute("DELETE FROM part WHERE id = 2"))
        writer.execute("COMMIT")
    # Changes of what has another name are moved as without a key.
    assert (ran(world), status(world)) == (False, [("OK" if "VIEW" in statements else "LOST",)])


def test_rows_that_we_put_into_the_stream_are_those_of_the_table_that_was_meant(filled, weak):
    world, owner = filled(PARTED, elsewhere={"master": weak})
    reads = "SELECT repl_capture_rows('part'::regclass::oid, 'D'::\"char\", 't'::regclass::oid)"
    view = "ALTER TABLE part RENAME TO gone; CREATE VIEW part AS SELECT own.f(1) AS id, 'x' AS v"
    with world.session() as publisher:
        while_waited_for(world, owner, view, lambda: publisher.execute(reads))
    assert (ran(world), status(world)) == (False, [("LOST",)])


@pytest.mark.parametrize("reads", ["a block", pytest.param("what is left", marks=pytest.mark.full)])
def test_a_block_waits_before_it_is_asked_whose_code_runs(filled, reads):
    world, owner = filled(PLAIN)
    info, name, database = world.infos["master"], TableName("public", "t"), world.context.source(SOURCE)
    within = KeyRange(number=0, table=name, order=relations.order(world.master, name).sign)

    def block(snapshot):
        with master("postgresql").read(info, snapshot, ()) as reading:
            rows, _ = reading.block(within, ["id", "v"], 20)
            list(rows)

    with database.master.exported_snapshot() as (snapshot, _):
        job = partial(block, snapshot) if reads == "a block" else lambda: foresee(info, [within])
        with pytest.raises(SluiceError, match="SLC-360"):
            while_waited_for(world, owner, "LOCK TABLE t; CREATE INDEX i ON t (v) WHERE own.f(1) = 0", job)
    database.close()
    assert not ran(world)
