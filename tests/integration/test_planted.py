"""Others make functions, operators and casts that fit our calls better than ours do, and none is ever run."""

from __future__ import annotations

from itertools import product

import pytest
from support.issuing import everywhere, execute, standings
from support.sqltext import inexact, unqualified
from support.world import SOURCE
from test_types_of_tables import BASE

from sluice.capture.grants import grants
from sluice.capture.reconcile import bootstrap
from sluice.capture.uninstall import cleanup

pytestmark = [pytest.mark.postgres]

TYPES = "CREATE DOMAIN label AS tag; CREATE TYPE mood AS ENUM ('well', 'ill'); CREATE DOMAIN state AS mood;"
# Only a superuser makes types with operators of their own.
TAGS = {
    "types of an extension": BASE.replace(", HASHES, MERGES", ""),
    "domains, DDL is polled": "CREATE DOMAIN tag AS text;",
}
TABLES = """
    CREATE TABLE named (id label PRIMARY KEY, v text, s state);
    CREATE TABLE felt (id mood, day int, v label, PRIMARY KEY (id, day));
    CREATE TABLE late (id int PRIMARY KEY, one label UNIQUE DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE heap (v label, w varchar(9));
    CREATE TABLE parted (id label, n int, PRIMARY KEY (id, n)) PARTITION BY RANGE (n);
    CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
    CREATE TABLE part2 PARTITION OF parted FOR VALUES FROM (10) TO (20);
"""
WATCHED = {"public.*": {}, "public.felt": {"old_images": "key", "debug": 1}}

# What an argument of a type may be taken for as well. One that is not cast fits one of these as well, or better.
OTHERS = {
    "text": ["varchar", "name", "bpchar", "json", "anyelement", "anynonarray"],
    "oid": ["regclass", "int4", "int8", "text", "anyelement"],
    "regclass": ["oid", "int8", "text", "anyelement"],
    "regprocedure": ["oid", "regproc", "text", "anyelement"],
    "oid[]": ["regclass[]", "int4[]", "text", "anyarray", "anyelement"],
    '"char"': ["text", "bpchar", "anyelement"],
    "jsonb": ["json", "text", "anyelement"],
    "boolean": ["text", "int4", "anyelement"],
    "integer": ["int2", "int8", "text", "anyelement"],
    "tid": ["text", "anyelement"],
    "record": ["text", "anyelement"],
    "pg_trigger": ["record", "text", "anyelement"],
}
OURS = """
    SELECT proname, ARRAY(SELECT format_type(type, NULL) FROM unnest(proargtypes) AS type), pg_get_function_result(oid),
           proretset
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND starts_with(proname, 'repl_')
"""
OPERATORS = ("=", "<>", "<", ">", "<=", ">=", "||", "&&", "<@", "@>", "->", "->>", "~", "!~", "~~", "!~~", "~*")
COMPARED = [
    "text", "name", "varchar", "bpchar", "oid", "regclass", '"char"', "int2", "int4", "int8", "bool", "jsonb", "oid[]",
    "text[]", "tid", "xid", "xid8", "cid", "label", "tag", "mood", "state",
]  # fmt: skip
MIXED = [
    ("label", "tag"), ("tag", "label"), ("varchar", "text"), ("text", "varchar"), ("name", "text"), ("text", "name"),
    ("oid", "regclass"), ("regclass", "oid"), ("int4", "int8"), ("int8", "int4"), ("state", "mood"), ("mood", "state"),
    ("jsonb", "text"), ("oid[]", "oid"), ("xid", "int4"), ("int8", "int2"), ("int2", "int8"),
]  # fmt: skip
CATALOG = [
    "format(text, text)", "format(text, name)", "format(text, oid)", "format(text, regclass)", "unnest(oid[])",
    "unnest(text[])", "unnest(name[])", "array_to_string(text[], varchar)", "concat(text)",
    "jsonb_build_array(name, text)", "to_jsonb(text)", "nextval(text)", "set_config(text, text, boolean, text)",
    "replace(varchar, text, text)", "textin(tag)", "max(int8)", "translate(text, varchar, text)",
    "encode(bytea, varchar)", "to_regclass(varchar)", "quote_ident(name)", "left(name, int)",
]  # fmt: skip


def plant(session, ours=()):
    """Functions, operators and casts beside the DbResources, and a sequence for each name that says whether it ran."""
    body = "LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_catalog.nextval('ran.{}'); RETURN{}; END $$"
    made = ["CREATE SCHEMA ran"]
    for name in {*(name for name, *_ in ours), "operator", "cast", *(one.partition("(")[0] for one in CATALOG)}:
        made.append(f"CREATE SEQUENCE ran.{name}")
    for name, types, returned, is_set in ours:
        if not returned.endswith("trigger"):
            given = {
                (*types[:place], other, *types[place + 1 :]) for place, one in enumerate(types) for other in OTHERS[one]
            }
            given |= {("text",) * len(types), ("VARIADIC text[]",)} - {tuple(types)}
            result = body.format(name, "" if is_set or returned == "void" else " NULL")
            made += [
                f"CREATE FUNCTION public.{name}({', '.join(one)}) RETURNS {returned} {result}" for one in sorted(given)
            ]
    made += [
        f"CREATE FUNCTION public.{one} RETURNS text {body.format(one.partition('(')[0], ' NULL')}" for one in CATALOG
    ]
    for one, other in [*((one, one) for one in COMPARED), *MIXED]:
        made.append(f"CREATE FUNCTION ran.ran({one}, {other}) RETURNS bool {body.format('operator', ' true')}")
        arguments = f"(LEFTARG = {one}, RIGHTARG = {other}, FUNCTION = ran.ran)"
        there = (
            "SELECT oprname FROM pg_operator WHERE oprnamespace = 'public'::regnamespace AND oprleft = to_regtype(%s)"
        )
        taken = {name for (name,) in session.execute(there, [one])} if one == other else set()
        made += [f"CREATE OPERATOR public.{operator} {arguments}" for operator in OPERATORS if operator not in taken]
    for one, other in product(("mood", "tag"), ("text", "json", "jsonb", "varchar")):
        function = f"ran.{one}_as_{other}"
        made.append(f"CREATE FUNCTION {function}({one}) RETURNS {other} {body.format('cast', ' NULL')}")
        made.append(f"CREATE CAST ({one} AS {other}) WITH FUNCTION {function} AS ASSIGNMENT")
    with session.transaction(), session.pipeline():
        for one in dict.fromkeys(made):
            session.execute(one)


def ran(world, name="master"):
    """The names of what was run on a database."""
    with world.session(name) as session:
        session.execute("SET search_path = pg_catalog")
        called = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'ran' AND last_value IS NOT NULL"
        return {one for (one,) in session.execute(called)}


AGAIN = """
    CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN UPDATE public.named SET v = 'again'; RETURN NULL; END $$;
    CREATE TRIGGER again AFTER INSERT ON named FOR EACH ROW EXECUTE FUNCTION again()
"""
# No word of these compares or calls anything: what runs is what we do about them.
WRITES = """
    INSERT INTO named VALUES ('a', 'x', 'well'), ('b', 'y', 'ill');
    INSERT INTO felt VALUES ('well', 1, 'a'), ('ill', 2, 'b');
    INSERT INTO late VALUES (1, 'a'), (2, 'b'); INSERT INTO heap VALUES ('a', 'x'), ('a', 'x'), (NULL, 'y');
    INSERT INTO parted VALUES ('a', 1), ('b', 11);
    UPDATE named SET v = 'z'; UPDATE felt SET v = 'c'; UPDATE late SET one = one; UPDATE heap SET w = 'z';
    UPDATE parted SET n = 5; DELETE FROM heap; INSERT INTO heap VALUES ('b', 'u');
"""
DDL = """
    ALTER TABLE named ADD COLUMN more label DEFAULT 'm'; ALTER TABLE heap ALTER w TYPE text;
    ALTER TABLE felt RENAME v TO w;
    CREATE TABLE later (id label PRIMARY KEY, s mood); INSERT INTO later VALUES ('a', 'well');
    TRUNCATE part1; ALTER TABLE parted DETACH PARTITION part2;
    ALTER TABLE parted ATTACH PARTITION part2 FOR VALUES FROM (10) TO (20);
    DROP TABLE part1; ALTER TABLE felt ADD UNIQUE (day) DEFERRABLE;
    INSERT INTO felt VALUES ('ill', 3, 'c'); DROP TABLE late
"""


@pytest.fixture(params=TAGS.values(), ids=TAGS)
def planted(updating, weak, request):
    """A world with all of that, in which everything of ours was made again."""
    superuser = request.param.startswith(BASE[:15])
    elsewhere = {} if superuser else {"master": weak, "zurich": weak}
    types = request.param + TYPES
    world = updating(types + TABLES, WATCHED, {}, slaves=("zurich",), elsewhere=elsewhere, source={"schema": "public"})
    world.reader("zurich").execute(types)
    world.superuser = superuser
    world.ours = world.master.execute(OURS).fetchall()
    plant(world.master, world.ours)
    plant(world.reader("zurich"))
    bootstrap(world.context, SOURCE, recreate_triggers=True)
    world.master.execute("SET search_path = public, pg_catalog")
    return world


@pytest.mark.full(but=["types of an extension"])
def test_nothing_that_others_planted_is_run(planted):
    world, master = planted, planted.master

    def follows():
        world.catch_up()
        assert (ran(world), ran(world, "zurich")) == (set(), set())

    for one in WRITES.split(";"):
        master.execute(one)
    world.update()
    world.end_update()
    master.execute(AGAIN)
    master.execute("INSERT INTO named VALUES ('c', 'x', 'well'), ('d', 'y', 'ill'); UPDATE named SET v = 'z'")
    master.execute("UPDATE late SET one = one; DELETE FROM felt; INSERT INTO felt VALUES ('well', 1, 'a')")
    master.execute("SELECT * FROM repl_items")
    follows()
    for one in DDL.split(";"):
        master.execute(one)
        if not world.superuser:
            # What is polled for is seen at a look.
            world.publish()
    follows()
    done = execute(world, "UPDATE named SET v = 's'")
    follows()
    assert standings(world, done) == everywhere(world)
    execute(world, "ALTER TABLE heap ADD COLUMN stated int")
    assert world.verify() == {"zurich": 0}
    follows()
    if world.superuser:
        for one in grants(world.context, SOURCE).split(";\n\n"):
            master.execute(one)
    cleanup(world.context, SOURCE)
    assert ran(world) == set()


def test_the_text_of_each_installed_function_names_what_it_means(planted):
    """Also of those that are generated, for keys of each kind. What is no text was looked up when it was made."""
    known = {(name, len(types)): types for name, types, *_ in planted.ours}
    made = """
        SELECT proname, prosrc, coalesce(proconfig, '{}') @> ARRAY['search_path=pg_catalog, pg_temp']
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND starts_with(proname, 'repl_')
          AND prosqlbody IS NULL AND prosrc NOT LIKE '%ran.%'
    """
    planted.master.execute("SET search_path = pg_catalog")
    found = planted.master.execute(made).fetchall()
    assert len(found) > 40
    for name, text, pinned in found:
        assert inexact(text, known, lambda code, place: code[place].text.strip('"')) == [], name
        loose = unqualified(text)
        assert not [one for one in loose if one.startswith("OPERATOR")], name
        assert pinned or not loose, name
