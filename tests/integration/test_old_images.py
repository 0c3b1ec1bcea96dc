"""Tables whose updates leave an old image only where they changed the key: what is captured; slaves are equal."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text)"
KEYED = {"public.t": {"old_images": "key"}}
# The columns of a key, a value of it, and another that changes it, or spells it otherwise.
KEYS = [
    ("k int", "1", "2"),
    ("k bigint", "1", "-1"),
    ("k uuid", "'{11111111-1111-1111-1111-111111111111}'", "'{11111111-1111-1111-1111-111111111112}'"),
    ("k timestamptz", "'2024-02-01 12:00+00'", "'2024-02-01 12:00:00.000001+00'"),
    ("k text", "'a'", "'a '"),
    ("k numeric", "1.0", "1.00"),
    ("k float8", "0", "'-0'"),
    ("k bytea", r"'\x00'", r"'\x0000'"),
    ("k text", "repeat('x', 2000)", "repeat('x', 2001)"),
    ('"k %s ""{}" int', "1", "2"),
    ("l int DEFAULT 7, k int", "1", "2"),
]


@pytest.fixture
def keyed(build):
    """A world with such a table, filled and caught up."""

    def made(ddl=DDL, tables=KEYED, **more):
        world = build(ddl, tables, **more)
        world.master.execute("INSERT INTO t SELECT g, 'v' || g FROM generate_series(1, 9) AS g")
        world.catch_up()
        return world

    return made


def queued(world):
    """Actions in the queue, and whether they have an old image."""
    rows = world.master.execute("SELECT left(db_action, 1), oldcontent IS NOT NULL FROM repl_queue ORDER BY repl_key")
    return [(action, there) for action, there in rows if action in "IUDT"]


def source(world):
    """What `check` says of the source."""
    return next(one.text for one in findings(world.context) if one.subject == f"source {SOURCE}")


@pytest.mark.full
def test_an_old_image_is_there_where_the_key_is_not_what_it_was_to_the_bit(build):
    tables, ddl = {}, []
    for number, (columns, first, second) in enumerate(KEYS):
        name = columns.split(" int")[0] if columns.startswith('"') else "k"
        key = f"l, {name}" if columns.startswith("l") else name
        ddl.append(f"CREATE TABLE t{number} ({columns}, v text, PRIMARY KEY ({key}))")
        tables[f"public.t{number}"] = name, first, second
    world = build("; ".join(ddl), dict.fromkeys(tables, KEYED["public.t"]))
    session = world.session()
    # Whoever writes cannot have another equality used.
    session.execute(
        """
        CREATE SCHEMA mine;
        CREATE FUNCTION mine.record_image_eq(record, record) RETURNS boolean
            LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
        SET search_path = mine, public, pg_catalog
        """
    )
    found = [
        ("I", False),
        ("U", False),
        ("U", False),
        ("U", True),
        ("U", False),
        ("U", True),
        ("D", True),
        ("T", False),
    ]
    for table, (name, first, second) in tables.items():
        before = len(queued(world))
        session.execute(f"INSERT INTO {table} ({name}, v) VALUES ({first}, 'a')".encode())
        for change in (f"v = 'b', {name} = {first}", "v = NULL", f"{name} = {second}", "v = 'c'", f"{name} = {first}"):
            session.execute(f"UPDATE {table} SET {change}".encode())
        session.execute(f"DELETE FROM {table}; TRUNCATE {table}".encode())
        assert queued(world)[before:] == found, (name, first, second)
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_the_view_and_the_log_say_what_is_known_and_no_more(keyed):
    world = keyed()
    world.master.execute("UPDATE t SET v = 'x' WHERE id = 1; UPDATE t SET id = 10 WHERE id = 2")
    items = world.master.execute("SELECT oldcontent FROM repl_items ORDER BY repl_key").fetchall()
    assert items == [(None,), ('<col name="id">2</col><col name="v">v2</col>',)]
    world.catch_up()
    assert [(one["new"], one["old"]) for one in world.log()[-2:]] == [(["1", "x"], None), (["10", "v2"], ["2", "v2"])]


WHOLE = [
    pytest.param("CREATE TABLE t (id int, v text)", "which has no primary key", id="no key"),
    pytest.param(
        "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, v text)", "of which a constraint is checked at commit"
    ),
    pytest.param(
        f"{DDL}; CREATE TABLE u (t int REFERENCES t DEFERRABLE)",
        "of which a constraint is checked at commit",
        id="late",
    ),
]


@pytest.mark.full(but=["no key"])
@pytest.mark.parametrize(("ddl", "why"), WHOLE)
def test_tables_whose_key_does_not_tell_their_rows_at_any_moment_keep_whole_images(keyed, ddl, why):
    world = keyed(ddl)
    assert f"old images are stored whole of public.t, {why}" in source(world)
    world.master.execute("UPDATE t SET v = 'x' WHERE id < 3")
    assert queued(world) == [("U", True)] * 2
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_a_table_whose_ddl_is_polled_keeps_whole_images(keyed, weak):
    world = keyed(elsewhere={"master": weak})
    assert "old images are stored whole of public.t, whose DDL is found by polling" in source(world)
    world.master.execute("ALTER TABLE t RENAME id TO ident; UPDATE t SET v = 'x' WHERE ident < 3")
    assert queued(world) == [("U", True)] * 2
    world.catch_up()
    assert world.differences() == {}


def test_the_key_follows_its_constraint_in_the_transaction_of_the_ddl(keyed):
    world = keyed("CREATE TABLE t (id int PRIMARY KEY, v text NOT NULL)")
    with world.master.transaction():
        world.master.execute("UPDATE t SET v = v || 'x' WHERE id = 1; ALTER TABLE t DROP CONSTRAINT t_pkey")
        world.master.execute("UPDATE t SET v = v || 'x' WHERE id = 2; ALTER TABLE t ADD PRIMARY KEY (v)")
        world.master.execute("UPDATE t SET v = v || 'x' WHERE id = 3; UPDATE t SET id = 40 WHERE id = 4")
        world.master.execute("ALTER TABLE t ADD UNIQUE (id) DEFERRABLE; UPDATE t SET id = 50 WHERE id = 5")
    assert queued(world) == [("U", False), ("U", True), ("U", True), ("U", False), ("U", True)]
    world.catch_up()
    assert world.differences() == {}


def unseen(world, statement):
    """DDL that no event trigger sees."""
    triggers = world.master.execute("SELECT quote_ident(evtname) FROM pg_event_trigger").fetchall()
    for change in ("DISABLE", "ENABLE ALWAYS"):
        for (trigger,) in triggers:
            world.master.execute(f"ALTER EVENT TRIGGER {trigger} {change}")
        if change == "DISABLE":
            world.master.execute(statement)


@pytest.mark.full
@pytest.mark.parametrize("change", ["RENAME id TO ident", "DROP id CASCADE"])
def test_a_statement_succeeds_after_ddl_of_the_key_that_nobody_saw(keyed, change):
    world = keyed()
    unseen(world, f"ALTER TABLE t {change}")
    world.master.execute("UPDATE t SET v = 'x' WHERE v = 'v1'; DELETE FROM t WHERE v = 'x'")
    assert queued(world) == [("U", True), ("D", True)]
    world.publish()
    assert (queued(world), world.left_out()) == ([], {"public.t"})


def test_where_event_triggers_are_lost_for_good_images_are_whole_again(keyed):
    world = keyed()
    name = world.infos["master"].login
    world.master.execute("UPDATE t SET v = 'x' WHERE id = 1")
    for (trigger,) in world.master.execute("SELECT evtname FROM pg_event_trigger").fetchall():
        world.master.execute(f'DROP EVENT TRIGGER "{trigger}"')
    world.master.execute(f"ALTER ROLE {name} NOSUPERUSER")
    world.catch_up()
    world.master.execute("ALTER TABLE t RENAME id TO ident; UPDATE t SET v = 'x' WHERE ident = 2")
    assert queued(world) == [("U", True)]
    world.catch_up()
    assert world.differences() == {}


FIRST = "SELECT certain FROM repl_first_image('t'::regclass, 't'::regclass, %(before)s::jsonb, %(after)s::jsonb)"
SHAPES = {
    "plain": '{"key": ["id"], "columns": [{"number": 1, "name": "id", "type": "int"},'
    ' {"number": 2, "name": "v", "type": "text"}]}',
    "other name": '{"key": ["w"], "columns": [{"number": 1, "name": "w", "type": "int"},'
    ' {"number": 2, "name": "v", "type": "text"}]}',
    "exchanged": '{"key": ["v"], "columns": [{"number": 1, "name": "v", "type": "int"},'
    ' {"number": 2, "name": "id", "type": "text"}]}',
    "wider": '{"key": ["id"], "columns": [{"number": 1, "name": "id", "type": "int"},'
    ' {"number": 2, "name": "v", "type": "text"}, {"number": 3, "name": "n", "type": "int"}]}',
    "wider, of another key": '{"key": ["n"], "columns": [{"number": 1, "name": "id", "type": "int"},'
    ' {"number": 2, "name": "v", "type": "text"}, {"number": 3, "name": "n", "type": "int"}]}',
    "of another key": '{"key": ["v"], "columns": [{"number": 1, "name": "id", "type": "int"},'
    ' {"number": 2, "name": "v", "type": "text"}]}',
}


CERTAIN = {"other name": False, "exchanged": False, "wider": True, "wider, of another key": False}
CERTAIN |= {"of another key": True}


@pytest.mark.full
def test_what_is_found_late_is_not_certain_if_other_columns_were_looked_at(keyed):
    world = keyed()

    def found():
        given = ({"before": SHAPES["plain"], "after": SHAPES[after]} for after in CERTAIN)
        return [world.master.execute(FIRST, one).fetchone()[0] for one in given]

    world.master.execute("UPDATE t SET id = 20 WHERE id = 2")
    assert found() == [True] * len(CERTAIN)
    world.master.execute("UPDATE t SET v = 'x' WHERE id = 1")
    assert dict(zip(CERTAIN, found(), strict=True)) == CERTAIN


@pytest.mark.full
def test_the_setting_changes_either_way_with_changes_pending(keyed):
    world = keyed(tables=["public.t"])
    world.master.execute("UPDATE t SET v = 'a' WHERE id = 1")
    for setting, number in (("key", 2), ("full", 3), ("key", 4)):
        world.configure(lambda plain, to=setting: plain["sources"][SOURCE]["tables"]["public.t"].update(old_images=to))
        assert bootstrap(world.context, SOURCE)["added"] == ["public.t"]
        assert bootstrap(world.context, SOURCE)["added"] == []
        world.master.execute("UPDATE t SET v = 'a' WHERE id = %s", [number])
    assert queued(world) == [("U", True), ("U", False), ("U", True), ("U", False)]
    world.catch_up()
    assert world.differences() == {}


@pytest.mark.full
def test_a_table_that_a_wildcard_takes_later_has_the_setting_from_its_first_row_on(keyed):
    world = keyed(tables={"public.*": {"old_images": "key"}})
    world.master.execute("CREATE TABLE u (id int PRIMARY KEY, v text); INSERT INTO u VALUES (1, 'a')")
    world.master.execute("UPDATE u SET v = 'b'; UPDATE u SET id = 2")
    assert queued(world) == [("I", False), ("U", False), ("U", True)]
    world.catch_up()
    assert world.rows("zurich", "public.u") == world.rows("master", "public.u")
