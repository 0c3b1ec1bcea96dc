"""DDL of the master on its slaves: at its place in the stream, under their names, and exact (R3, R7)."""

from __future__ import annotations

import re

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"
SHAPE = """
    SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated,
           a.attidentity <> '' OR made.draws, CASE WHEN NOT made.draws THEN made.text END
    FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    CROSS JOIN LATERAL (SELECT expr AS text, coalesce(starts_with(expr, 'nextval'), false) AS draws
                        FROM pg_get_expr(d.adbin, d.adrelid) AS expr) AS made
    WHERE a.attrelid = %(table)s::regclass AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT conname, pg_get_constraintdef(oid), NULL, NULL, NULL, NULL
    FROM pg_constraint WHERE conrelid = %(table)s::regclass AND contype <> 'n'
    UNION ALL
    SELECT 'index', pg_get_indexdef(indexrelid), NULL, NULL, NULL, NULL
    FROM pg_index WHERE indrelid = %(table)s::regclass"""


def shape(world, name, table):
    """Columns and constraints; a default that draws from a sequence is an identity on a slave."""
    rows = world.reader(name).execute(SHAPE, {"table": table}).fetchall()
    return {tuple(re.sub(r"(branch|public)\.", "", str(part)) for part in row) for row in rows}


@pytest.fixture
def both(updating):
    """Two slaves that an initial update has made: geneva calls the schema otherwise, zurich takes changes singly."""

    def make(ddl, tables=("public.t",), **more):
        world = updating(ddl, list(tables), **more)
        world.configure(lambda settings: settings["replications"][0].update(mode="one_to_one"))
        world.update()
        return world

    return make


def same(world, *tables):
    """Both slaves have what the master has: columns, keys, rows."""
    world.catch_up()
    for table in tables:
        assert world.rows("master", f"public.{table}") == world.rows("zurich", f"public.{table}")
        assert world.rows("master", f"public.{table}") == world.rows("geneva", f"public.{table}")
        assert shape(world, "zurich", f"public.{table}") == shape(world, "master", f"public.{table}")
        assert shape(world, "geneva", f"branch.{table}") == shape(world, "master", f"public.{table}")


def test_an_alter_is_done_between_the_rows_of_before_and_after(both):
    world = both(
        "CREATE TYPE mood AS ENUM ('glad', 'sad');"
        "CREATE TABLE t (id int PRIMARY KEY, v text, n int DEFAULT 1, m text DEFAULT 'glad', w varchar(5));"
        "INSERT INTO t SELECT g, g, g FROM generate_series(1, 5) AS g"
    )
    for statement in (
        "ALTER TABLE t ADD at timestamptz NOT NULL DEFAULT now(), ADD l int[] DEFAULT '{1,2}', "
        "ADD b box DEFAULT '(2,2),(1,1)', ADD bs box[] DEFAULT '{(2,2),(1,1);(4,4),(3,3)}'",
        "ALTER TABLE t ADD e text DEFAULT 'a''{b}\\', ADD late int, ALTER late SET DEFAULT 5, "
        "ADD r float DEFAULT random(), ADD o serial",
        "ALTER TABLE t ALTER n TYPE bigint USING n * 100, ALTER n SET DEFAULT 7, "
        "ALTER v TYPE int USING length(v), ALTER v SET NOT NULL",
        "ALTER TABLE t ALTER w TYPE varchar(9), ALTER m DROP DEFAULT",
        "ALTER TABLE t ALTER m TYPE mood USING m::mood; CREATE DOMAIN few AS int CHECK (VALUE < 9)",
        "ALTER TABLE t ADD f few DEFAULT 3, ADD UNIQUE (o, n), "
        "ADD g int GENERATED ALWAYS AS (id + 1) STORED, ADD CONSTRAINT small CHECK (v < 100)",
        "ALTER TABLE t RENAME w TO v2",
        "ALTER TABLE t DROP CONSTRAINT small, DROP late, DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (n, id)",
        "ALTER TABLE t RENAME CONSTRAINT t_pkey TO k; ALTER TABLE t ALTER n DROP DEFAULT, ALTER e SET DEFAULT 'x'",
    ):
        world.master.execute(statement)
        world.master.execute("INSERT INTO t (id, v, n) SELECT max(id) + 1, 2, max(id) + 1 FROM t")
    world.master.execute("UPDATE t SET m = 'sad' WHERE id % 2 = 0; DELETE FROM t WHERE id = 3")
    same(world, "t")
    assert set(world.verify().values()) == {0}


@pytest.mark.full
def test_tables_are_made_renamed_and_dropped_where_the_master_does_it(both):
    world = both(
        "CREATE TABLE p (id int PRIMARY KEY); CREATE INDEX ON p (id DESC); INSERT INTO p VALUES (1), (2)", ["public.*"]
    )
    for statement in (
        'CREATE TABLE t (id bigserial PRIMARY KEY, p int REFERENCES p ON DELETE CASCADE, v text COLLATE "C")',
        "CREATE TYPE pair AS (a int, b int); CREATE TABLE pairs (p pair, LIKE p INCLUDING ALL)",
        "INSERT INTO t (p) VALUES (1), (2), (NULL)",
        "CREATE TABLE kept AS SELECT id, 'k' || id AS v FROM t; UPDATE kept SET v = 'kept' WHERE id = 1",
        "ALTER TABLE t RENAME TO u; INSERT INTO u (p) VALUES (2)",
        "CREATE TABLE gone (id int); INSERT INTO gone VALUES (1); DROP TABLE gone; CREATE TABLE gone (other text)",
        "INSERT INTO gone VALUES ('x'); DELETE FROM p WHERE id = 1",
        "CREATE SCHEMA elsewhere; ALTER TABLE kept SET SCHEMA elsewhere; INSERT INTO elsewhere.kept VALUES (9, 'a')",
    ):
        world.master.execute(statement)
    same(world, "p", "pairs", "u", "gone")
    for slave in world.slaves:
        assert world.rows(slave, "elsewhere.kept") == world.rows("master", "elsewhere.kept")
    world.master.execute("DROP TABLE p CASCADE; INSERT INTO u (p) VALUES (77)")
    same(world, "u", "gone")
    assert world.reader("geneva").execute("SELECT to_regclass('branch.p'), to_regclass('branch.t')").fetchone() == (
        None,
        None,
    )


@pytest.mark.full
def test_a_slave_that_sees_a_table_otherwise_gets_it_altered_and_made_so(updating):
    world = updating("CREATE TABLE t (id int PRIMARY KEY, v text, secret text, n int CHECK (n > 0))", ["public.*"])
    named = {"as": "fleet.craft", "columns": {"v": "w", "id": "number"}, "exclude_columns": ["secret", "hidden"]}
    world.configure(lambda all_: all_["slaves"]["geneva"].update(tables={"public.t": named, "public.u": named}))
    world.update()
    for statement in (
        "INSERT INTO t VALUES (1, 'a', 's', 1)",
        "ALTER TABLE t ADD hidden int DEFAULT 3, ADD c text DEFAULT now()::text, ALTER v SET DEFAULT 'x'",
        "ALTER TABLE t ALTER secret TYPE int USING 7, DROP CONSTRAINT t_n_check, ADD CHECK (id > 0)",
        "INSERT INTO t (id) VALUES (2); ALTER TABLE t ALTER v DROP DEFAULT, ALTER v TYPE int USING id",
        "ALTER TABLE t DROP secret, DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (v); ALTER TABLE t RENAME n TO m",
        "INSERT INTO t VALUES (3, 3); UPDATE t SET v = 4 WHERE id = 1; DELETE FROM t WHERE id = 2",
    ):
        world.master.execute(statement)
    world.catch_up()
    assert world.verify() == {"zurich": 0, "geneva": 0}
    geneva = world.reader("geneva")
    assert geneva.execute("SELECT number, w, m FROM fleet.craft ORDER BY 1").fetchall() == [(1, 4, 1), (3, 3, None)]
    made = {text for _, text, *_ in shape(world, "geneva", "fleet.craft")}
    assert made >= {"PRIMARY KEY (w)", "text"}
    world.master.execute("DROP TABLE t; CREATE TABLE u (id int PRIMARY KEY, v text, secret text)")
    world.master.execute("INSERT INTO u VALUES (1, 'a', 's')")
    world.catch_up()
    assert geneva.execute("SELECT * FROM fleet.craft").fetchall() == [(1, "a")]
    world.master.execute("ALTER TABLE u RENAME TO other")
    world.publish()
    world.drain("zurich")
    with pytest.raises(SluiceError, match=r"SLC-145: .*secret"):
        world.drain("geneva")


@pytest.mark.full
def test_a_table_that_is_filtered_and_computed_is_altered_and_stops_where_it_loses_that(build):
    entry = {"where": "n > 0", "compute": {"double": "n * 2"}}
    world = build(
        "CREATE TABLE t (id int PRIMARY KEY, n int, v text)", ["public.*"], slave={"tables": {"public.t": entry}}
    )
    slave = world.reader("zurich")
    slave.execute("ALTER TABLE t ADD double bigint")
    world.master.execute("INSERT INTO t VALUES (1, 1, 'a'), (2, 0, 'b'), (3, 3, 'c')")
    world.catch_up()
    for statement in (
        "ALTER TABLE t ALTER n TYPE bigint; UPDATE t SET n = 3000000000 WHERE id = 1",
        "ALTER TABLE t ADD w int DEFAULT 7, DROP v; UPDATE t SET w = 8, n = 1 WHERE id = 2; DELETE FROM t WHERE id = 3",
        "ALTER TABLE t RENAME TO other; INSERT INTO other VALUES (4, 0, 1), (5, 5, 1)",
    ):
        world.master.execute(statement)
        world.publish()
    with pytest.raises(SluiceError, match=r"SLC-145: .*rows that it did not get"):
        world.drain()
    world.configure(lambda all_: all_["slaves"]["zurich"]["tables"].update({"public.other": entry}))
    world.catch_up()
    rows = slave.execute("SELECT id, n, w, double FROM other ORDER BY 1").fetchall()
    assert rows == [(1, 3000000000, 7, 6000000000), (2, 1, 8, 2), (5, 5, 1, 10)]


@pytest.mark.full
def test_what_the_slave_has_already_or_wider_stays(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v varchar(5), w int)", ["public.t"])
    zurich = world.reader("zurich")
    zurich.execute("ALTER TABLE t ALTER v TYPE text, ADD n int, ADD own text DEFAULT 'mine', DROP w")
    zurich.execute("ALTER TABLE t RENAME v TO x")
    world.master.execute("ALTER TABLE t DROP w; ALTER TABLE t RENAME v TO x; ALTER TABLE t ALTER x TYPE varchar(8)")
    world.master.execute("ALTER TABLE t ADD n int; INSERT INTO t VALUES (2, 'b', 3)")
    world.catch_up()
    assert zurich.execute("SELECT id, x, n, own, pg_typeof(x)::text FROM t").fetchall() == [(2, "b", 3, "mine", "text")]


POLICIES = {"creates": "CREATE TABLE u (id int)", "alters": "ALTER TABLE t ADD n int", "drops": "DROP TABLE t"}


@pytest.mark.full
def test_a_slave_may_pass_over_ddl_or_stop_in_front_of_it(build):
    world = build(PLAIN, ["public.*"])

    def so(policy):
        world.configure(lambda settings: settings["replications"][0].update(dict.fromkeys(POLICIES, policy)))

    before = shape(world, "zurich", "t")
    for key, statement in POLICIES.items():
        so("stop")
        world.master.execute(statement)
        world.publish()
        with pytest.raises(
            SluiceError, match=rf"SLC-143: the master's {key[:-1].upper()} of public\.[tu] in "
        ) as refused:
            world.drain()
        assert "./sluice dispatcher flights zurich --approve" in refused.value.hint
        so("ignore")
        world.catch_up()
    assert shape(world, "zurich", "t") == before
    assert world.reader("zurich").execute("SELECT to_regclass('u')").fetchone() == (None,)


@pytest.mark.full
def test_an_alter_that_fails_stops_in_front_of_it_and_is_passed_over_when_it_was_done_by_hand(build):
    world = build(PLAIN, ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    zurich = world.reader("zurich")
    zurich.execute("CREATE VIEW seen AS SELECT v FROM t")
    world.master.execute("ALTER TABLE t DROP v; INSERT INTO t VALUES (2)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-140: .*public\.t") as refused:
        world.drain()
    assert "unpause" in refused.value.hint
    zurich.execute("DROP VIEW seen; ALTER TABLE t DROP v")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_a_table_that_is_there_already_is_taken_if_it_is_empty_and_fits(build):
    world = build(PLAIN, ["public.*"])
    zurich = world.reader("zurich")
    zurich.execute("CREATE TABLE u (id int, own text); CREATE TABLE w (id int); INSERT INTO w VALUES (1)")
    world.master.execute("CREATE TABLE u (id int); INSERT INTO u VALUES (1)")
    world.catch_up()
    assert world.rows("zurich", "public.u").total() == 1
    world.master.execute("CREATE TABLE w (id int)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-141: .*public\.w"):
        world.drain()
    zurich.execute("TRUNCATE w")
    world.catch_up()


@pytest.mark.full
@pytest.mark.parametrize(("setting", "left"), [("overwrite_tables", (1, "x")), ("recreate_tables", (1,))])
def test_a_table_that_is_there_already_is_emptied_or_made_anew_if_that_is_wanted(build, setting, left):
    world = build(PLAIN, ["public.*"])
    world.configure(lambda settings: settings["replications"][0].update({setting: True}))
    zurich = world.reader("zurich")
    zurich.execute("CREATE TABLE u (id int, own text DEFAULT 'x'); INSERT INTO u VALUES (7)")
    world.master.execute("CREATE TABLE u (id int); INSERT INTO u VALUES (1)")
    world.catch_up()
    assert zurich.execute("SELECT * FROM u").fetchall() == [left]


@pytest.mark.full
def test_a_table_whose_rows_do_not_follow_is_left_to_an_initial_update(build):
    world = build(PLAIN, ["public.t"])
    world.master.execute("CREATE TABLE u (id int PRIMARY KEY); INSERT INTO u VALUES (1)")
    world.configure(lambda settings: settings["sources"][SOURCE]["tables"].update({"public.u": {}}))
    bootstrap(world.context, SOURCE)
    world.catch_up()
    world.master.execute("INSERT INTO u VALUES (2)")
    world.publish()
    with pytest.raises(SluiceError, match="SLC-070"):
        world.drain()


@pytest.mark.full
def test_a_name_that_the_slave_has_given_to_another_table_stops_it(build):
    world = build(PLAIN, ["public.t"])
    world.reader("zurich").execute("CREATE TABLE u (own int)")
    world.master.execute("ALTER TABLE t RENAME TO u; INSERT INTO u VALUES (1, 'a')")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-142: .*public\.u"):
        world.drain()
    world.reader("zurich").execute("DROP TABLE u")
    world.drain()
    assert world.rows("zurich", "public.u").total() == 1


@pytest.mark.full
def test_columns_that_change_places_keep_their_values(build):
    world = build('CREATE TABLE t (id int PRIMARY KEY, a text, "A" text)', ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a', 'b')")
    world.catch_up()
    world.master.execute('ALTER TABLE t RENAME a TO c; ALTER TABLE t RENAME "A" TO a; ALTER TABLE t RENAME c TO "A"')
    world.master.execute("UPDATE t SET id = 2")
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_an_alter_that_is_found_late_comes_before_the_rows_that_have_its_columns_already(build, weak):
    world = build(PLAIN, ["public.t"], elsewhere={"master": weak})
    for statements in (
        ["INSERT INTO t VALUES (1, 'a')", "ALTER TABLE t ADD n int DEFAULT 7", "INSERT INTO t VALUES (2, 'b', 2)"],
        [
            "UPDATE t SET n = 3 WHERE id = 1",
            "ALTER TABLE t DROP v",
            "INSERT INTO t VALUES (3, 4)",
            "DELETE FROM t WHERE id = 2",
        ],
    ):
        for statement in statements:
            world.master.execute(statement)
        world.publish()
        assert [change["action"] for change in world.log()][-1] == "A", "the rows come first"
    drain = world.drainer(size=1)
    while drain.deliver():
        pass
    assert world.differences() == {}


@pytest.mark.full
def test_a_slave_whose_role_may_silence_nothing_follows_too(build, weak):
    world = build("CREATE TABLE p (id int PRIMARY KEY)", ["public.*"], elsewhere={"zurich": weak})
    world.master.execute("CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p ON DELETE CASCADE)")
    world.master.execute(
        "INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1, 1), (2, 2); DELETE FROM p WHERE id = 1"
    )
    world.master.execute("ALTER TABLE c ADD v text DEFAULT 'x'; UPDATE c SET v = 'y'")
    world.catch_up()
    assert world.differences() == {}
    assert world.rows("zurich", "public.c") == world.rows("master", "public.c")
    world.master.execute("BEGIN; ALTER TABLE p ALTER id TYPE bigint; ALTER TABLE c ALTER p TYPE bigint; COMMIT")
    world.catch_up()
    assert world.differences() == {}
    # Its key may do nothing by itself, since the role cannot keep it from that.
    keys = {row[1] for row in shape(world, "zurich", "public.c") ^ shape(world, "master", "public.c")}
    assert {key.partition("p(id) ")[2] for key in keys} == {"ON DELETE CASCADE", "DEFERRABLE INITIALLY DEFERRED"}


def test_a_key_is_widened_in_one_transaction_with_those_that_refer_to_it(both):
    """Until the rows of both tables are there again, no foreign key is checked."""
    tables = ("p", "c", "q", "d", "tree")
    world = both(
        "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p);"
        "CREATE TABLE q (id int PRIMARY KEY); CREATE TABLE d (id int PRIMARY KEY, q int REFERENCES q);"
        "CREATE TABLE tree (id int PRIMARY KEY, up int REFERENCES tree);"
        "INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1, 1), (2, 2);"
        "INSERT INTO q VALUES (1), (2); INSERT INTO d VALUES (1, 1), (2, 2); INSERT INTO tree VALUES (1, NULL), (2, 1)",
        [f"public.{name}" for name in tables],
    )
    world.master.execute(
        "BEGIN; ALTER TABLE p ALTER id TYPE bigint; ALTER TABLE c ALTER p TYPE bigint;"
        "ALTER TABLE d ALTER q TYPE bigint; ALTER TABLE q ALTER id TYPE bigint;"
        "ALTER TABLE tree ALTER id TYPE bigint, ALTER up TYPE bigint; INSERT INTO c VALUES (3, 1); COMMIT"
    )
    same(world, *tables)


@pytest.mark.full
def test_a_column_of_the_slave_that_counts_by_a_sequence_of_its_own_counts_no_more(build):
    world = build("CREATE TABLE t (id serial PRIMARY KEY, n serial)", ["public.t"])
    world.master.execute("INSERT INTO t DEFAULT VALUES; ALTER TABLE t ALTER id DROP DEFAULT, ALTER n SET DEFAULT 7")
    world.master.execute("INSERT INTO t (id) VALUES (5)")
    world.catch_up()
    assert world.differences() == {}
    assert shape(world, "zurich", "t") == shape(world, "master", "t")
