"""DDL of watched tables: commands in the stream, in order with the rows, written in the DDL's own transaction."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]

PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"


@pytest.fixture
def world(build):
    return build(PLAIN, ["public.t"])


def stream(world):
    """What ITEMS holds, in order: actions with the row's first value, or the command's content."""
    found = world.master.execute(
        "SELECT left(db_action, 1), coalesce(content, oldcontent) FROM repl_queue ORDER BY repl_key"
    ).fetchall()
    return [(action, json.loads(text) if action in "NAX" else text) for action, text in found]


def commands(world):
    return [(action, text) for action, text in stream(world) if action in "NAX"]


def named(definition):
    return f"{definition['schema']}.{definition['table']}"


def columns(definition):
    return {column["number"]: column["name"] for column in definition["columns"]}


def test_an_alter_stands_between_the_rows_of_before_and_after(world):
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.master.execute("ALTER TABLE t ADD n numeric(5,2) NOT NULL DEFAULT 0")
    world.master.execute("INSERT INTO t VALUES (2, 'b', 1.5)")
    first, (action, content), last = stream(world)
    assert (first, action, last) == (("I", "(1,a)"), "A", ("I", "(2,b,1.50)"))
    assert content["statement"] == "ALTER TABLE t ADD n numeric(5,2) NOT NULL DEFAULT 0"
    assert columns(content["before"]) == {1: "id", 2: "v"}
    assert content["after"] == {
        "schema": "public",
        "table": "t",
        "key": ["id"],
        "constraints": [["t_pkey", "PRIMARY KEY (id)"]],
        "foreign_keys": [],
        "columns": [
            {"number": 1, "name": "id", "type": "integer", "not_null": True},
            {"number": 2, "name": "v", "type": "text", "not_null": False},
            {"number": 3, "name": "n", "type": "numeric(5,2)", "not_null": True, "default": "0", "filled": "0.00"},
        ],
    }
    world.publish()
    assert [change["action"] for change in world.log()] == ["I", "A", "I"]
    assert json.loads(world.log()[1]["new"][0]) == content


PARTS = ("schema", "table", "columns", "key", "constraints", "foreign_keys")
# What is altered; what of the table's definition is something else afterwards.
ALTERED = {
    "a default": ("ALTER v SET DEFAULT 'x'", ["columns"]),
    "not null": ("ALTER v SET NOT NULL", ["columns"]),
    "a type": ("ALTER v TYPE varchar(10)", ["columns"]),
    "a column less": ("DROP v", ["columns"]),
    "a column's name": ("RENAME v TO w", ["columns"]),
    "the key": ("DROP CONSTRAINT t_pkey", ["key", "constraints"]),
    "a check": ("ADD CHECK (v <> '')", ["constraints"]),
    "a foreign key": ("ADD FOREIGN KEY (id) REFERENCES t", ["foreign_keys"]),
    "an identity": ("ALTER id ADD GENERATED ALWAYS AS IDENTITY", ["columns"]),
    "a generated column": ("ADD g text GENERATED ALWAYS AS (upper(v)) STORED", ["columns"]),
    "the table's name": ("RENAME TO u", ["table"]),
    "the table's schema": ("SET SCHEMA other", ["schema"]),
}


# PostgreSQL does not mind which kind of relation these statements name.
RENAMED = {
    "ALTER INDEX {} RENAME TO v": "table",
    "ALTER VIEW {} RENAME v TO w": "columns",
    "ALTER MATERIALIZED VIEW {} RENAME v TO w": "columns",
    "ALTER FOREIGN TABLE {} RENAME v TO w": "columns",
}


@pytest.mark.full
def test_whatever_is_altered_is_told_also_if_it_is_renamed_as_something_else(build):
    said = {f"ALTER TABLE {{0}} {change.replace('t_', '{0}_')}": parts for change, parts in ALTERED.values()}
    said |= {statement: [part] for statement, part in RENAMED.items()}
    tables = [f"t{number}" for number in range(len(said))]
    made = "".join(PLAIN.replace(" t ", f" {table} ") + ";" for table in ("t", *tables))
    world = build(made, [f"public.{table}" for table in tables])
    world.master.execute("CREATE SCHEMA other; CREATE VIEW seen AS SELECT 1 AS n")
    world.master.execute("ALTER INDEX t_pkey RENAME TO k; ALTER VIEW seen RENAME n TO m")
    for number, (table, (statement, parts)) in enumerate(zip(tables, said.items(), strict=True)):
        world.master.execute(statement.format(table))
        ((action, content),) = commands(world)[number:]
        assert action == "A"
        before, after = content["before"], content["after"]
        assert [part for part in PARTS if before[part] != after[part]] == parts, statement


def test_what_replication_has_no_use_for_sends_nothing(world):
    world.master.execute("ALTER TABLE t SET (fillfactor = 50); CREATE TABLE other (id int); DROP TABLE other")
    world.master.execute("CREATE INDEX ON t (v); COMMENT ON TABLE t IS 'x'; ALTER TABLE t ENABLE ROW LEVEL SECURITY")
    assert stream(world) == []


def test_a_renamed_column_keeps_its_number_and_one_made_anew_does_not(world):
    world.master.execute("ALTER TABLE t RENAME v TO w; ALTER TABLE t DROP w, ADD w text")
    first, second = (content["after"] for _, content in commands(world))
    assert (columns(first), columns(second)) == ({1: "id", 2: "w"}, {1: "id", 3: "w"})


@pytest.mark.full
def test_a_renamed_table_is_captured_on_under_its_new_name_and_old_images_keep_the_old(world):
    world.master.execute("INSERT INTO t VALUES (1, 'a'); ALTER TABLE t RENAME TO u; INSERT INTO u VALUES (2, 'b')")
    found = world.master.execute("SELECT db_action, tablename FROM repl_items ORDER BY repl_key").fetchall()
    assert found == [("INSERT", "t"), ("ALTER", "u"), ("INSERT", "u")]
    world.configure(lambda settings: settings["sources"][SOURCE].update(tables={"public.u": {}}))
    assert bootstrap(world.context, SOURCE)["added"] == []
    assert world.master.execute("SELECT tablename, status FROM repl_tables").fetchall() == [("u", "OK")]


@pytest.mark.full
def test_a_renamed_schema_takes_its_tables_along(build):
    world = build("CREATE SCHEMA one; CREATE TABLE one.t (id int); CREATE TABLE t (id int)", ["one.t", "public.t"])
    world.master.execute("ALTER SCHEMA one RENAME TO two; INSERT INTO two.t VALUES (1)")
    ((_, content),) = commands(world)
    assert (named(content["before"]), named(content["after"])) == ("one.t", "two.t")
    assert world.master.execute("SELECT schemaname FROM repl_tables WHERE status = 'OK' ORDER BY 1").fetchall() == [
        ("public",),
        ("two",),
    ]


def test_two_tables_that_swap_their_names_are_told_apart(build):
    world = build("CREATE TABLE a (x int); CREATE TABLE b (x int)", ["public.a", "public.b"])
    with world.master.transaction():
        world.master.execute("INSERT INTO a VALUES (1)")
        world.master.execute("ALTER TABLE a RENAME TO c; ALTER TABLE b RENAME TO a; ALTER TABLE c RENAME TO b")
        world.master.execute("INSERT INTO a VALUES (2)")
    found = world.master.execute("SELECT db_action, tablename FROM repl_items ORDER BY repl_key").fetchall()
    renamed = [("ALTER", "c"), ("ALTER", "a"), ("ALTER", "b")]
    assert found == [("INSERT", "a"), *renamed, ("INSERT", "a")]
    assert bootstrap(world.context, SOURCE)["added"] == []


def test_a_dropped_table_says_so_after_its_last_rows(world):
    world.master.execute("INSERT INTO t VALUES (1, 'a'); DROP TABLE t")
    (_, row), (action, content) = stream(world)
    assert (row, action, named(content["before"])) == ("(1,a)", "X", "public.t")
    assert "after" not in content
    world.publish()
    assert [change["action"] for change in world.log()] == ["I", "X"]


@pytest.mark.full
def test_a_column_that_goes_with_its_type_is_an_alter(build):
    world = build("CREATE TYPE mood AS ENUM ('glad'); CREATE TABLE t (id int, m mood)", ["public.t"])
    world.master.execute("DROP TYPE mood CASCADE; INSERT INTO t VALUES (1)")
    world.publish()
    assert [(change["action"], change["new"] and len(change["new"])) for change in world.log()] == [("A", 1), ("I", 1)]


def test_a_type_that_is_renamed_is_an_alter(build):
    world = build("CREATE TYPE mood AS ENUM ('glad'); CREATE TABLE t (id int, m mood)", ["public.t"])
    world.master.execute("ALTER TYPE mood RENAME TO humour; INSERT INTO t VALUES (1, 'glad')")
    ((_, content),) = commands(world)
    assert [column["type"] for column in content["after"]["columns"]] == ["integer", "public.humour"]
    world.publish()


@pytest.mark.full
def test_columns_that_come_by_inheritance_are_told_of_the_child(build):
    world = build("CREATE TABLE p (a int); CREATE TABLE c () INHERITS (p)", ["public.c"])
    world.master.execute("ALTER TABLE p ADD b int; INSERT INTO c VALUES (1, 2)")
    ((_, content),) = commands(world)
    assert columns(content["after"]) == {1: "a", 2: "b"}
    world.publish()
    assert world.log()[-1]["new"] == ["1", "2"]


def test_ddl_that_is_rolled_back_leaves_nothing(world):
    with world.master.transaction(force_rollback=True):
        world.master.execute("ALTER TABLE t ADD n int; INSERT INTO t VALUES (1, 'a', 2); DROP TABLE t")
    with world.master.transaction():
        with world.master.transaction(force_rollback=True):
            world.master.execute("ALTER TABLE t RENAME TO u")
        world.master.execute("INSERT INTO t VALUES (3, 'b')")
    assert stream(world) == [("I", "(3,b)")]
    world.catch_up()
    assert world.differences() == {}


# What a client sends in one string, and the statement that is told of it, if it can be cut out for certain.
SENT = (
    ("INSERT INTO t VALUES (1, 'canary'); ALTER TABLE t ADD {} int", "ALTER TABLE t ADD {} int"),
    (
        r"""SELECT E'canary\';', '\d;', ''';canary', "c;" FROM (VALUES (1)) AS v ("c;"); ALTER TABLE t ADD {} text"""
        " DEFAULT ';' ; SELECT 'canary' AS a$b",
        "ALTER TABLE t ADD {} text DEFAULT ';'",
    ),
    ("-- ca;nary\n/* can;ary */ ALTER /* canary */ TABLE t -- canary\n ADD {} int", "ALTER   TABLE t  \n ADD {} int"),
    ("/* a /* canary; */ */ SELECT 1; ALTER TABLE t ADD {} int", None),
    ("SELECT $$;canary$$; ALTER TABLE t ADD {} int", None),
    ("ALTER TABLE t ALTER v SET STATISTICS 5; ALTER TABLE t ADD {} int", None),
    ("ALTER TABLE t ADD {} text; COMMENT ON TABLE t IS 'canary'", "ALTER TABLE t ADD {} text"),
    ("ALTER TABLE t ADD {} text DEFAULT 'a password'", None),
    ("DO $$BEGIN PERFORM 'canary'; ALTER TABLE t ADD {} int; END$$", None),
    ("SELECT alters('{}', 'canary')", None),
    ("ALTER TABLE other ADD {} text DEFAULT 'canary'; SELECT alters('{}', '')", None),
    (r"SET standard_conforming_strings = off; SELECT 'canary\'; ALTER TABLE t ADD {} int", None),
    ("ALTER TABLE t DROP {}", "ALTER TABLE t DROP {}"),
    ("INSERT INTO t VALUES (2, 'canary'); DROP TABLE t", "DROP TABLE t"),
)
ALTERS = """CREATE FUNCTION alters(name text, note text) RETURNS void LANGUAGE plpgsql AS
    $$BEGIN EXECUTE format('ALTER TABLE t ADD %I int', name); END$$; CREATE TABLE other (a int)"""


def test_of_what_a_client_sends_nothing_but_the_statement_itself_is_told(world):
    world.master.execute(ALTERS)
    for number, (sent, told) in enumerate(SENT):
        name = "c0" if "DROP" in sent else f"c{number}"
        world.master.execute(sent.replace("{}", name))
        statement = commands(world)[-1][1].get("statement")
        assert statement == (told and told.replace("{}", name)), sent


def test_ddl_of_a_role_without_rights_on_the_queue_is_seen_too(world):
    world.master.execute("CREATE ROLE clerk; ALTER TABLE t OWNER TO clerk; GRANT CREATE ON SCHEMA public TO clerk")
    world.master.execute("SET ROLE clerk; ALTER TABLE t ADD n int; RESET ROLE")
    assert [action for action, _ in commands(world)] == ["A"]


def test_a_failure_of_ours_leaves_the_users_statement_alone_and_the_next_sweep_leaves_its_table_out(world):
    world.master.execute("ALTER TABLE repl_layouts RENAME TO hidden")
    world.master.execute("ALTER TABLE t ADD n int; INSERT INTO t VALUES (1, 'a', 2)")
    world.master.execute("ALTER TABLE hidden RENAME TO repl_layouts")
    world.publish()
    assert (stream(world), world.left_out()) == ([], {"public.t"})


@pytest.mark.full
def test_a_bootstrap_leaves_what_could_not_be_recorded_to_the_next_look(world):
    """Also where somebody holds the table, so that nobody can look at it now."""
    world.master.execute("INSERT INTO t VALUES (1, 'a'); ALTER TABLE repl_notes RENAME TO hidden")
    world.master.execute("ALTER TABLE t ADD UNIQUE (v); ALTER TABLE hidden RENAME TO repl_notes")
    holder = world.session()
    holder.execute("BEGIN; LOCK TABLE t")
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(bootstrap, world.context, SOURCE)
        wait([done], 5)
        holder.execute("COMMIT")
        assert done.result()["added"] == []
    world.publish()
    assert [one["action"] for one in world.log()] == ["I", "A"]
    assert world.status("zurich") is Status.NORMAL


# What is altered while nothing can be recorded of it; what the change log holds in the end.
UNRECORDED = {
    "a default": ("ALTER TABLE t ALTER v SET DEFAULT 'x'", ["I", "A", "A", "I"]),
    "a key's name": ("ALTER TABLE t RENAME id TO key; ALTER TABLE t RENAME key TO id", ["I", "A", "I"]),
    "the schema": ("ALTER TABLE t SET SCHEMA other", ["I", "A", "A", "I"]),
    "a constraint that is checked at commit": ("ALTER TABLE t ADD UNIQUE (v) DEFERRABLE", ["I", "A", "A", "I", "C"]),
    "values alone": ("ALTER TABLE t ALTER v TYPE text USING upper(v)", ["I", "A", "T", "I", "I"]),
}


@pytest.mark.full
@pytest.mark.parametrize(("change", "actions"), UNRECORDED.values(), ids=UNRECORDED)
def test_what_could_not_be_recorded_is_noticed_by_the_next_look(world, change, actions):
    """A transaction that began before others altered the table may not write what is recorded of it."""
    world.master.execute("CREATE SCHEMA other; INSERT INTO t VALUES (1, 'a'); SET search_path = public, other")
    late = world.session()
    late.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM repl_tables")
    world.master.execute("ALTER TABLE t ALTER id SET DEFAULT 7")
    late.execute(f"{change}; COMMIT")
    world.publish()
    world.master.execute("INSERT INTO t VALUES (2, 'b')")
    world.publish()
    assert [change["action"] for change in world.log()] == actions
    assert world.status("zurich") is Status.NORMAL


@pytest.mark.full
def test_tables_that_go_with_what_they_inherit_from_go_before_it(build):
    """On the slave as on the master, whichever was made or watched first."""
    tables = ["c", "b", "a"]
    made = "CREATE TABLE b (id int); CREATE TABLE a () INHERITS (b); CREATE TABLE c () INHERITS (a)"
    world = build(made, [f"public.{name}" for name in tables])
    world.master.execute("DROP TABLE b CASCADE; CREATE TABLE b (id int); INSERT INTO b VALUES (1)")
    world.publish()
    world.drain()
    there = "SELECT array_agg(relname::text ORDER BY relname) FROM pg_class WHERE relname IN ('a', 'b', 'c')"
    assert world.reader("zurich").execute(there).fetchone() == (["b"],)
