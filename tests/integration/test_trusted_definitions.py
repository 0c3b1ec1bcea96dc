"""Definitions that travel: what calls nothing but what is known is made by itself, and all else is asked about."""

from __future__ import annotations

import re

import pytest

from sluice.commands import retry_rejected, unblock
from sluice.config.mapper import Mapper
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.monitor.check import findings
from sluice.state.ddl_question import Decision
from sluice.state.replication import Status
from sluice.store import ddl_questions, rejected_changes
from sluice.vendors.postgresql.catalog.definition import PostgresTable
from sluice.vendors.postgresql.catalog.type_names import TypeNames
from sluice.vendors.postgresql.ddl import trust
from sluice.vendors.postgresql.ddl.names import SlaveNames
from sluice.vendors.postgresql.session import connect

pytestmark = [pytest.mark.postgres]

# A query that is executed where a definition is evaluated: it leaves a trace there.
REWRITTEN = "ts_rewrite('a', $q$SELECT 'a'::tsquery, 'b'::tsquery FROM nextval('public.planted')$q$) <> 'c'"
# Whoever owns a table on the master may write so. There it does nothing.
ELSEWHERE = f"CASE WHEN current_database() <> '{{master}}' THEN {REWRITTEN} ELSE true END"
REWRITES, OURS, PLUS = "pg_catalog.ts_rewrite", "public.ours", "public.plus"

ASIDE = "CREATE TABLE aside.{name} (id int);"
ALIKE = "CREATE TABLE {name} (LIKE aside.{name} INCLUDING INDEXES)"

HOSTILE = {
    "a check": (REWRITES, f"CREATE TABLE {{name}} (id int PRIMARY KEY, CHECK ({ELSEWHERE}))"),
    "a default": (REWRITES, f"CREATE TABLE {{name}} (id int PRIMARY KEY, b bool DEFAULT {REWRITTEN})"),
    "a domain's check": (
        REWRITES,
        f"CREATE DOMAIN d{{name}} AS int CHECK ({ELSEWHERE}); CREATE TABLE {{name}} (d d{{name}})",
    ),
    "a domain's default": (
        REWRITES,
        f"CREATE DOMAIN d{{name}} AS bool DEFAULT {REWRITTEN}; CREATE TABLE {{name}} (d d{{name}})",
    ),
    "a domain in a type": (
        REWRITES,
        f"CREATE DOMAIN d{{name}} AS int CHECK ({ELSEWHERE}); CREATE TYPE y{{name}} AS (a d{{name}});"
        "CREATE TABLE {name} (id int, y y{name}[])",
    ),
    "a sequence that is named late": (
        "pg_catalog.nextval",
        "CREATE TABLE {name} (n bigint DEFAULT nextval('public.planted'::text::regclass))",
    ),
    "an index": (OURS, f"{ASIDE} CREATE INDEX ON aside.{{name}} (ours(id)); {ALIKE}"),
    "a computed index": (PLUS, f"{ASIDE} CREATE INDEX ON aside.{{name}} ((id @+ 1) DESC); {ALIKE}"),
    "an index's condition": (OURS, f"{ASIDE} CREATE INDEX ON aside.{{name}} (id) WHERE ours(1) > 0; {ALIKE}"),
    "an exclusion": (OURS, "CREATE TABLE {name} (id int, EXCLUDE USING btree (ours(id) WITH =))"),
    "an exclusion's condition": (OURS, "CREATE TABLE {name} (id int, EXCLUDE (id WITH =) WHERE (ours(1) > 0))"),
    "a computed column": (OURS, "CREATE TABLE {name} (id int, g int GENERATED ALWAYS AS (ours(1)) STORED)"),
    "an operator": (PLUS, "CREATE TABLE {name} (id int CHECK (id @+ 1 > 0))"),
    "a cast": ("public.as_our", "CREATE TABLE {name} (id int CHECK ((id::text::our).n > 0))"),
    "a check that is added": (REWRITES, f"ALTER TABLE t ADD CONSTRAINT {{name}} CHECK ({ELSEWHERE})"),
    "a default that is set": (REWRITES, f"ALTER TABLE t ALTER b SET DEFAULT {REWRITTEN}"),
    "a column that is added": (
        "pg_catalog.has_table_privilege",
        "ALTER TABLE t ADD {name} bool DEFAULT has_table_privilege('pg_authid', 'SELECT')",
    ),
    "a domain that is brought": (
        REWRITES,
        f"CREATE DOMAIN d{{name}} AS int CHECK ({ELSEWHERE}); ALTER TABLE t ADD {{name}} d{{name}}",
    ),
}
ADDING = """
CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE OPERATOR @+ (FUNCTION = plus, LEFTARG = int, RIGHTARG = int);
"""
DDL = f"""{ADDING}
CREATE SEQUENCE planted;
CREATE FUNCTION ours(int) RETURNS int LANGUAGE plpgsql IMMUTABLE
    AS 'BEGIN PERFORM nextval(''public.planted''); RETURN 1; END';
CREATE SCHEMA aside;
CREATE TYPE our AS (n int);
CREATE FUNCTION as_our(text) RETURNS our LANGUAGE sql IMMUTABLE AS 'SELECT ROW(1)::public.our';
CREATE CAST (text AS our) WITH FUNCTION as_our(text);
CREATE TABLE t (id int PRIMARY KEY, b bool);
"""
MADE = """
SELECT pg_get_constraintdef(oid) FROM pg_constraint
UNION ALL SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef
UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index
UNION ALL SELECT typname FROM pg_type"""


@pytest.fixture
def world(build, airflow):
    """A world whose slave has the functions of the master, and can ask."""
    made = build(DDL, ["public.*"])
    made.infos[made.context.config.airflow_api] = airflow.info()
    return made


def written(world, statement, name):
    """A definition, as somebody writes it on the master."""
    return statement.replace("{name}", name).replace("{master}", world.infos["master"].database)


def planted(world):
    """Whether the query was executed on the slave."""
    return world.reader("zurich").execute("SELECT is_called FROM planted").fetchone()[0]


def asked(world):
    """The key of the question that waits."""
    ((key,),) = world.reader("control").execute("SELECT key FROM question WHERE state = 'WAITING'").fetchall()
    return key


@pytest.mark.full
def test_what_may_execute_a_text_or_is_not_of_the_server_waits_for_a_decision(world):
    pair, slave = world.pair("zurich"), world.reader("zurich")
    world.catch_up()
    before = slave.execute(MADE).fetchall()
    for number, (what, (called, statement)) in enumerate(HOSTILE.items()):
        world.master.execute(written(world, statement, f"h{number}"))
        world.publish()
        assert world.drain()["standby"].startswith("APPROVAL: the master's "), what
        page = ddl_questions.describe(world.context.store, pair, asked(world))["body"]
        assert "What the slave does not make by itself" in page, what
        assert f", calls {called}" in page, what
        # The next drain passes it over.
        unblock.decide(world.context, pair, asked(world), Decision.REJECT)
    assert sorted(slave.execute(MADE).fetchall()) == sorted(before)
    assert not planted(world)


def test_what_is_approved_is_made_and_not_asked_about_again(world):
    world.master.execute(written(world, HOSTILE["a check"][1], "h"))
    world.master.execute("INSERT INTO h VALUES (1)")
    world.publish()
    world.drain()
    unblock.decide(world.context, world.pair("zurich"), asked(world), Decision.APPROVE)
    world.drain()
    assert planted(world), "this is what it does there"
    world.master.execute("ALTER TABLE h ADD n int DEFAULT 5; INSERT INTO h VALUES (2)")
    world.catch_up()
    assert world.rows("zurich", "public.h") == world.rows("master", "public.h")


def test_what_is_rejected_can_be_carried_out_later(world):
    world.master.execute(written(world, HOSTILE["a default that is set"][1], "h"))
    world.publish()
    world.drain()
    unblock.decide(world.context, pair := world.pair("zurich"), asked(world), Decision.REJECT)
    world.drain()
    (kept,) = rejected_changes.list_changes(world.context.store, pair)
    # Nor does it come in by another way.
    again = HOSTILE["a default that is set"][1].partition("DEFAULT ")[2]
    for same in (f"ALTER TABLE t DROP b, ADD b bool DEFAULT {again}", f"ALTER TABLE t ADD CHECK ({again})"):
        world.master.execute(same)
        world.publish()
        assert world.drain()["standby"].startswith("APPROVAL: the master's "), same
        unblock.decide(world.context, pair, asked(world), Decision.REJECT)
    assert retry_rejected.carry_out(world.context, pair, [kept.id]) == (1, 0)
    assert any("ts_rewrite" in text for (text,) in world.reader("zurich").execute(MADE).fetchall())


@pytest.mark.full
def test_a_policy_may_stop_or_pass_over_it_and_a_function_may_be_trusted(world, airflow):
    def so(**replication):
        world.configure(lambda settings: settings["replications"][0].update(replication))

    so(creates="stop")
    world.master.execute("CREATE TABLE h (id int CHECK (id @+ 1 > 0))")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-143: .*calls public\.plus"):
        world.drain()
    airflow.paused = False
    so(creates="ignore")
    world.drain()
    so(creates="apply")
    world.configure(lambda settings: settings["slaves"]["zurich"].update(trusts=["public.plus"]))
    world.master.execute("CREATE TABLE h2 (id int CHECK (id @+ 1 > 0)); INSERT INTO h2 VALUES (5)")
    world.publish()
    world.drain()
    assert world.rows("zurich", "public.h2") == world.rows("master", "public.h2")
    assert world.reader("zurich").execute("SELECT to_regclass('h')").fetchone() == (None,)


# What is made by itself, as many a schema has it: of Pagila, of TPC-C, of frameworks.
ORDINARY = """
CREATE TYPE mpaa_rating AS ENUM ('G', 'PG', 'PG-13', 'R', 'NC-17');
CREATE DOMAIN year AS integer CONSTRAINT year_check CHECK (VALUE >= 1901 AND VALUE <= 2155);
CREATE DOMAIN email AS text COLLATE "C" DEFAULT ('nobody' || '@example.com') NOT NULL
    CHECK (VALUE ~* '^[a-z0-9._%-]+@[a-z0-9.-]+$') CHECK (length(VALUE) < 255 AND VALUE = lower(VALUE));
CREATE TYPE span AS RANGE (SUBTYPE = time, MULTIRANGE_TYPE_NAME = spans);
CREATE TYPE place AS (street varchar(40), zip char(9), since timestamp(3), at point);
CREATE TABLE film (
    film_id serial PRIMARY KEY, title varchar(255) NOT NULL, release_year year, original_language_id smallint,
    rental_rate numeric(4,2) DEFAULT 4.99 NOT NULL, rating mpaa_rating DEFAULT 'G'::mpaa_rating,
    last_update timestamptz DEFAULT now() NOT NULL, create_date date DEFAULT ('now'::text)::date NOT NULL,
    special_features text[], fulltext tsvector NOT NULL, open span, opens spans, at place[], mail email
);
CREATE INDEX film_fulltext_idx ON film USING gist (fulltext);
CREATE INDEX idx_title ON film USING btree (lower(title) COLLATE "C" text_pattern_ops DESC NULLS LAST, (film_id + 1))
    INCLUDE (rating) WITH (fillfactor = 70) WHERE title LIKE 'A%' OR NOT (rating = 'G') AND film_id IN (1, 2);
CREATE INDEX ON film (rating) WHERE rating IS NOT NULL;
CREATE UNIQUE INDEX ON film (coalesce(title, ''), greatest(film_id, 1)) NULLS NOT DISTINCT;
CREATE INDEX ON film USING gin (to_tsvector('english', title));
CREATE TABLE bmsql_customer (
    c_w_id integer NOT NULL, c_d_id integer NOT NULL, c_id integer NOT NULL, c_discount decimal(4,4),
    c_credit char(2), c_last varchar(16), c_first varchar(16), c_balance decimal(12,2), c_since timestamp,
    PRIMARY KEY (c_w_id, c_d_id, c_id) INCLUDE (c_last), UNIQUE (c_last, c_first) DEFERRABLE INITIALLY DEFERRED
);
CREATE TABLE plain (
    id uuid DEFAULT gen_random_uuid() PRIMARY KEY, at timestamptz DEFAULT CURRENT_TIMESTAMP,
    day date DEFAULT CURRENT_DATE, expires timestamptz DEFAULT now() + interval '1 day', chance float DEFAULT random(),
    utc timestamp DEFAULT (now() AT TIME ZONE 'utc'), by_whom text DEFAULT CURRENT_USER, doc jsonb DEFAULT '{}'::jsonb,
    clock timestamptz DEFAULT clock_timestamp(), tenant text DEFAULT current_setting('app.tenant', true),
    number text DEFAULT 'INV-' || to_char(now(), 'YYYYMMDD'), bits bit(3) DEFAULT B'101', raw bytea DEFAULT '\\x00ff',
    tags text[] DEFAULT ARRAY[]::text[] NOT NULL, a int, b text, p daterange, t time, c place,
    lowered text GENERATED ALWAYS AS (lower(btrim(b))) STORED,
    net numeric(12,2) GENERATED ALWAYS AS (round(a * 1.19, 2)) STORED,
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, coalesce(b, ''))) STORED,
    CONSTRAINT "some; -- 'odd' $$ name" CHECK (b <> 'x; DROP TABLE "y" -- /* $$'),
    CHECK (b LIKE 'a%' ESCAPE '!' OR b NOT ILIKE '%b' OR b ~ E'^\\\\d{5}$' OR b SIMILAR TO '(x|y)%'),
    CHECK (a BETWEEN 1 AND 10 AND a <> ALL (ARRAY[7, 8]) AND a IS DISTINCT FROM 9),
    CHECK (CASE WHEN a > 5 THEN length(b) > 2 WHEN b IS NULL THEN true ELSE octet_length(b) < 9 END),
    CHECK (num_nonnulls(a, b) >= 1 AND nullif(b, '') IS NOT NULL AND (a, b) IS DISTINCT FROM (1, 'z')),
    CHECK (EXTRACT(year FROM at) > 1900 AND date_part('dow', day) < 7 AND date_trunc('month', day) <= day),
    CHECK (at::date >= DATE '2000-01-01' AND expires > at AND age(at) < interval '900 years'),
    CHECK (doc ? 'x' IS NOT NULL AND jsonb_typeof(doc) = 'object' AND (doc ->> 'n')::int IS DISTINCT FROM 3),
    CHECK (doc['k'] IS NULL AND doc @> '{}' AND jsonb_path_exists(doc, '$')),
    CHECK (NOT isempty(p) AND lower(p) < upper(p) AND p && daterange('1900-01-01', NULL)),
    CHECK (array_length(tags, 1) IS NULL OR tags[1] <> '' AND tags <@ ARRAY['a'::varchar(3)]::text[]),
    CHECK ((c).zip ~ '^[0-9]+$' AND (c).at <-> point(0, 0) < 1e9 AND md5(b)::uuid IS NOT NULL),
    CHECK (upper(b) COLLATE "C" = b AND position('x' IN b) = 0 AND substring(b FROM 2 FOR 1) <> 'q' IS TRUE),
    CHECK (b IS NFC NORMALIZED AND trim(BOTH ' ' FROM b) = b AND overlay(b PLACING 'x' FROM 1) > '') NOT VALID,
    EXCLUDE USING gist (p WITH &&) WHERE (a > 0)
);
CREATE INDEX ON plain USING gin (doc jsonb_path_ops);
CREATE INDEX ON plain ((doc ->> 'name'), (a % 2), (b || 'x'));
CREATE INDEX ON plain (date_trunc('day', utc), timezone('utc', at), (at AT TIME ZONE 'UTC'));
"""


SHAPED = """
SELECT 'c', conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype <> 'n' AND connamespace = %(schema)s::regnamespace AND conrelid::regclass::text !~ 'sluice'
UNION ALL
SELECT 'i', relname, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON oid = indexrelid
WHERE relnamespace = %(schema)s::regnamespace AND relname !~ 'sluice'
UNION ALL
SELECT 'd', relname, pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_class AS r ON r.oid = adrelid
WHERE relnamespace = %(schema)s::regnamespace AND relname !~ 'sluice' AND pg_get_expr(adbin, adrelid) !~ 'nextval'"""


def shaped(world, name, schema, kinds="cid"):
    """Constraints, indexes and defaults in a schema, of these kinds. Printed twice, some have less brackets."""
    rows = world.reader(name).execute(SHAPED, {"schema": schema}).fetchall()
    assert len(rows) > 30
    return sorted((kind, of, re.sub(r"[()]", "", text)) for kind, of, text in rows if kind in kinds)


@pytest.mark.full
def test_an_ordinary_schema_is_made_by_itself(updating):
    world = updating(ORDINARY, ["public.*", "more.*"])
    world.update()
    world.catch_up()
    assert shaped(world, "zurich", "public") == shaped(world, "master", "public")
    world.master.execute(f"CREATE SCHEMA more; SET search_path = more; {ORDINARY}; SET search_path = public")
    world.master.execute("ALTER TABLE bmsql_customer ADD note text DEFAULT 'x' CHECK (note <> ''), ADD s email")
    world.catch_up()
    for schema in ("public", "more"):
        assert shaped(world, "zurich", schema, "cd") == shaped(world, "master", schema, "cd")


def test_an_initial_update_refuses_what_it_would_not_make_by_itself_before_anything_is_changed(updating):
    world = updating(f"{ADDING}; CREATE TABLE h (id int CHECK (id @+ 1 > 0))", ["public.h"])
    for slave in world.slaves:
        world.reader(slave).execute(ADDING)
    with pytest.raises(SluiceError, match=r"SLC-320: .*public\.h .*CHECK .*calls public\.plus") as refused:
        world.inhibit("zurich")
    assert "`trusts`" in refused.value.hint
    (told,) = (one for one in findings(world.context) if one.subject == "slave zurich")
    assert "SLC-320" in told.text
    assert world.status("zurich") is Status.NORMAL
    # A table that is there is filled as it is, and a function may be trusted.
    slave = world.reader("zurich")
    slave.execute("CREATE TABLE h (id int)")
    world.configure(lambda settings: settings["slaves"]["geneva"].update(trusts=["public.plus"]))
    world.update()
    world.catch_up()
    assert world.rows("geneva", "public.h") == world.rows("zurich", "public.h") == world.rows("master", "public.h")
    # What comes up after it was asked about is seen by the load as well.
    world.inhibit("zurich", force=True)
    slave.execute("DROP TABLE h")
    with pytest.raises(SluiceError, match=r"SLC-320: .*calls public\.plus"):
        world.dump("zurich")
    assert slave.execute("SELECT to_regclass('h')").fetchone() == (None,)


@pytest.mark.full
def test_a_definition_that_comes_with_files_is_judged_where_they_arrive(carried):
    carried = carried(f"{ADDING}; CREATE TABLE h (id int CHECK (id @+ 1 > 0))", ["public.h"])
    slave = carried.world.reader("zurich")
    slave.execute(f"{ADDING}; CREATE TABLE h (id int)")
    carried.store("zurich")
    slave.execute("DROP TABLE h")
    carried.carry("zurich")
    with pytest.raises(SluiceError, match=r"SLC-320: .*calls public\.plus"):
        carried.receive("zurich")
    assert slave.execute("SELECT to_regclass('h')").fetchone() == (None,)


def test_check_warns_of_a_role_of_a_slave_that_is_a_superuser(build, weak):
    for elsewhere, warned in (({}, True), ({"zurich": weak}, False)):
        world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], elsewhere=elsewhere)
        (told,) = (one for one in findings(world.context) if one.subject == "slave zurich")
        assert told.good
        assert (f"the role {world.infos['zurich'].login} is a superuser" in told.text) is warned


CALLABLE = """
SELECT quote_ident(proname), concat('pg_catalog.', quote_ident(proname), '(', (
    SELECT string_agg('NULL::' || format_type(argument, NULL), ', ' ORDER BY n)
    FROM unnest(proargtypes::oid[]) WITH ORDINALITY AS a (argument, n)), ')')
FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND provolatile = %s AND NOT proretset
  AND provariadic = 0
  AND NOT EXISTS (SELECT FROM pg_type WHERE typtype = 'p' AND pg_type.oid = ANY (proargtypes || prorettype))
"""
HARMLESS = {"random", "random_normal", "gen_random_uuid", "uuidv4", "uuidv7", "clock_timestamp", "timeofday"}
REACHING = re.compile(r"to_xml|privilege|^pg_(?!backend_pid)|^ts_rewrite|^lo_|^has_|^to_reg|txid|file|description")


def let_through(session, volatility):
    """How many functions of the server can be called at all, and the names of those that definitions may call."""
    functions = session.execute(CALLABLE, [volatility]).fetchall()
    checks = tuple((f"c{place}", f"CHECK (({call} IS NULL))") for place, (_, call) in enumerate(functions))
    table = PostgresTable(TableName("public", "every"), (), checks, ())
    doubts = trust.judge(session, table, SlaveNames(Mapper()), TypeNames(session)).doubts
    return len(functions), {name for name, _ in functions} - {
        one.rpartition(", calls pg_catalog.")[2] for one in doubts
    }


def test_of_all_functions_of_the_server_those_that_act_or_reach_outside_are_doubted(server):
    info = server.create_database()
    with connect(info, "test", autocommit=True) as session:
        count, acting = let_through(session, "v")
        assert count > 100
        assert acting <= HARMLESS
        _, stable = let_through(session, "s")
        assert stable >= {"now", "to_char", "timestamptz_pl_interval", "current_setting"}
        assert [name for name in stable if REACHING.search(name)] == []
        count, constant = let_through(session, "i")
        assert len(constant) > 500
    server.drop_databases([info])
