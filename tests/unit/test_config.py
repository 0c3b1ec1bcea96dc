"""The configuration file: what is accepted, and how what is not is named (place, fact, hint)."""

from __future__ import annotations

from pathlib import Path

import pytest

from sluice import paths
from sluice.config import configuration
from sluice.config.models import WatchedTable
from sluice.config.slave_table import SlaveTableSettings
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.errors import ConfigError
from sluice.model import watched
from sluice.model.names import TableName
from sluice.model.watched import Pattern

EXAMPLE = """
sources:
  flights:
    connection: master
    tables: {public.airlines: {}, public.flights: {actions: di, sequence: 3}}
slaves:
  zurich: {connection: zurich}
  geneva: {connection: geneva, schemas: {public: branch}}
replications:
  - {source: flights, slave: zurich}
  - {source: flights, slave: geneva, schedule: {every_s: 5}}
"""


def test_the_example_is_read_with_its_defaults(read):
    found = read(EXAMPLE)
    source = found.source("flights")
    assert (source.prefix, source.schema_, source.vendor) == ("REPL_", None, "postgresql")
    assert source.watched_tables[("public", "airlines")].actions == "IUD"
    assert source.watched_tables[("public", "flights")].actions == "ID"
    assert found.slaves_of("flights") == ["zurich", "geneva"]
    assert found.replication("flights", "geneva").schedule.every_s == 5
    assert found.replication("flights", "zurich").schedule.every_s == 600
    assert found.slave("geneva").schemas == {"public": "branch"}


def test_blanks_around_a_table_count_in_double_quotes_alone_and_nothing_is_as_good_as_no_setting(read):
    tables = """{' public . airlines ': , public.flights: {}, '"public" ." t "': {actions: I}, ' public. b * ': }"""
    text = EXAMPLE.replace("{public.airlines: {}, public.flights: {actions: di, sequence: 3}}", tables)
    found = read(
        text.replace("zurich: {connection: zurich", "zurich: {connection: zurich, tables: {public.airlines: }")
    )
    source = found.source("flights")
    assert list(source.watched_tables) == [("public", "airlines"), ("public", "flights"), ("public", " t ")]
    assert [source.watched_tables["public", name] for name in ("airlines", "flights")] == [WatchedTable()] * 2
    assert Pattern("public", "b", wildcard=True) in source.patterns
    assert found.slave("zurich").tables == {"public.airlines": SlaveTableSettings()}


OFFICES = EXAMPLE.replace(
    "  zurich: {connection: zurich}",
    "  offices: {names: [zurich, bern], connection: 'db_{name}', tables: {public.*: {where: \"x = '{name}'\"}}}",
).replace("slave: zurich}", "slave: offices, mode: one_to_one}\n  - {source: flights, slave: bern}")


def test_one_entry_stands_for_every_slave_that_it_names_and_what_names_a_slave_itself_goes_before(read):
    found = read(OFFICES)
    assert list(found.slaves) == ["zurich", "bern", "geneva"]
    assert [found.slave(name).connection for name in found.slaves] == ["db_zurich", "db_bern", "geneva"]
    assert found.slave("bern").tables["public.*"].where == "x = 'bern'"
    assert [(one.slave, one.mode) for one in found.replications] == [
        ("zurich", "one_to_one"),
        ("bern", "batch"),
        ("geneva", "batch"),
    ]


def test_the_file_that_we_ship_is_valid():
    assert configuration.load(paths.PROJECT / "include" / "config" / "replication.yaml").slaves_of("flights")


def test_a_path_is_relative_to_the_home_and_a_url_is_kept(read, monkeypatch):
    monkeypatch.setenv(paths.HOME_ENV, "/somewhere")
    assert read(EXAMPLE).change_log_url == "/somewhere/changelog"
    assert read("change_log: /else/log" + EXAMPLE).change_log_url == "/else/log"
    assert read("change_log: hdfs://name/log" + EXAMPLE).change_log_url == "hdfs://name/log"


FAULTS = {
    "misspelt key": ("conection: master", "sources.flights.conection: unknown key; did you mean connection?"),
    "misspelt key of a table": (
        "connection: master, tables: {a.b: {action: I}}",
        "a.b.action: unknown key; did you mean actions?",
    ),
    "unknown key": ("connection: master, colour: blue", "sources.flights.colour: unknown key"),
    "prefix with quotes": ("""connection: m, prefix: 'RE"PL_'""", "is no prefix"),
    "prefix with a space": ("connection: m, prefix: RE PL_", "'RE PL_' is no prefix"),
    "prefix with a semicolon": ("connection: m, prefix: 'R;DROP'", "is no prefix"),
    "prefix of 60 characters": (f"connection: m, prefix: {'R' * 60}", "at most 30 long"),
    "prefix that starts with a digit": ("connection: m, prefix: '1R'", "starting with a letter"),
    "actions that are none": ("connection: m, tables: {a.b: {actions: IX}}", "'IX' is no set of actions"),
    "an action twice": ("connection: m, tables: {a.b: {actions: II}}", "'II' is no set of actions"),
    "a table without schema": ("connection: m, tables: {airlines: {}}", "'airlines' is no table: write schema.table"),
    "one table twice": ("""connection: m, tables: {a.b: {}, '"a".b': {}}""", "are the same table"),
    "one table twice, once with blanks": ("connection: m, tables: {a.b: {}, ' a . b ': {}}", "are the same table"),
    "a table of blanks": ("connection: m, tables: {'a. ': {}}", "'a. ' is no table: write schema.table"),
    "no table": ("connection: m, tables: {}", "sources.flights.tables"),
    "one wildcard twice": ("""connection: m, tables: {a.b*: {}, '"a".b*': {}}""", "are the same table"),
    "a star that is not last": ("connection: m, tables: {a.b*c: {}}", "is no wildcard: the star comes last"),
    "a schema with a star": ("connection: m, tables: {a*.b: {}}", "is no wildcard: the star comes last"),
    "a star for the schema": ("connection: m, tables: {'*.*': {}}", "is no wildcard: the star comes last"),
    "a wildcard with a trigger": ("connection: m, tables: {a.*: {trigger: zz}}", "a.* is a wildcard"),
    "one trigger for two tables": (
        "connection: m, tables: {a.b: {trigger: zz}, a.c: {trigger: zz}}",
        "a.b and a.c have the same trigger zz",
    ),
    "an exclusion with settings": (
        "connection: m, tables: {a.*: {}, a.b: {exclude: true, actions: I}}",
        "a.b: a table that is excluded has no other settings",
    ),
    "exclusions alone": ("connection: m, tables: {a.*: {exclude: true}}", "every table is excluded"),
    "another vendor": ("connection: m, vendor: access, tables: {a.b: {}}", "sources.flights.vendor"),
    "a schedule of no seconds": ("connection: m, schedule: {every_s: 0}, tables: {a.b: {}}", "every_s"),
}


@pytest.mark.parametrize(("source", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_fault_in_a_source_is_named_with_its_place(read, source, fault):
    if "tables" not in source:
        source += ", tables: {public.airlines: {}}"
    with pytest.raises(ConfigError) as caught:
        read(f"sources: {{flights: {{{source}}}}}\nslaves: {{}}\nreplications: []\n")
    assert caught.value.code == 2
    assert fault in caught.value.fact
    assert "./sluice check" in caught.value.hint


FILES = {
    "two slaves of one name": (
        EXAMPLE.replace("  geneva: {", "  zurich: {"),
        2,
        "'zurich' stands here twice",
        "fix the file",
    ),
    "a replication of an unknown slave": (
        EXAMPLE.replace("slave: geneva", "slave: genf"),
        2,
        "no slave is called 'genf'; there is zurich, geneva",
        "check",
    ),
    "a name of nobody": (f"pages: {{names: {{genf: G}}}}{EXAMPLE}", 2, "no slave is called genf", "check"),
    "a replication listed twice": (
        EXAMPLE.replace("slave: geneva", "slave: zurich"),
        2,
        "flights to zurich is listed twice",
        "check",
    ),
    "a slave's name with capitals": (EXAMPLE.replace("zurich", "Zurich"), 2, "'Zurich' is no name", "check"),
    "a slave's name of 60 characters": (EXAMPLE.replace("zurich", "z" * 60), 2, "at most 40 long", "check"),
    "a slave's name with a semicolon": (EXAMPLE.replace("zurich", "'z;h'"), 2, "is no name", "check"),
    "a prefix of DAG ids with a dash": (f"dag_prefix: team-a_{EXAMPLE}", 2, "is no prefix of DAG ids", "check"),
    "no YAML": ("sources: [", 2, "cannot be read", "SLUICE_CONFIG"),
    "a key that is a list": ("? [a]\n: 1\n", 2, "a key must be one word", "fix the file"),
    "a template that nobody filled": ("change_log: {{ place }}", 2, "a key must be one word", "fix the file"),
    "a schema of 80 characters": (
        EXAMPLE.replace("slaves:\n", f"    schema: {'s' * 80}\nslaves:\n", 1),
        2,
        "is no name of a schema",
        "check",
    ),
    "tables that a slave would have under one name": (
        EXAMPLE.replace("{connection: zurich}", "{connection: zurich, tables: {public.flights: {as: airlines}}}"),
        2,
        "slave zurich: a slave cannot see its tables so: public.airlines and public.flights would both be public.",
        "check",
    ),
    "columns that a slave would have under one name": (
        EXAMPLE.replace("{connection: zurich}", "{connection: zurich, tables: {public.*: {columns: {a: c, b: c}}}}"),
        2,
        "slaves.zurich.tables.public.*: two columns cannot become one: c",
        "check",
    ),
    "a statement that would end its transaction": (
        EXAMPLE.replace("{connection: zurich}", "{connection: zurich, tables: {p.*: {before: {U: COMMIT}}}}"),
        2,
        "slaves.zurich.tables.p.*.before.U: String should match pattern",
        "./sluice check",
    ),
    "transactions that share one, in a batch": (
        EXAMPLE.replace("slave: zurich}", "slave: zurich, max_collected_statements: 9}"),
        2,
        "max_collected_statements is for mode one_to_one",
        "./sluice check",
    ),
    "a column that is called something and left out": (
        EXAMPLE.replace(
            "{connection: zurich}", "{connection: zurich, tables: {p.*: {columns: {a: c}, exclude_columns: [a]}}}"
        ),
        2,
        "slaves.zurich.tables.p.*: a column that is left out has no name on the slave: a",
        "check",
    ),
    "a function whose schema is not clear": (
        EXAMPLE.replace("{connection: zurich}", "{connection: zurich, trusts: [a.b.c]}"),
        2,
        "'a.b.c' is no function: write schema.function, with double quotes around a part that has a dot",
        "check",
    ),
    "one name for the tables of a wildcard": (
        EXAMPLE.replace("{connection: zurich}", "{connection: zurich, tables: {public.*: {as: x}}}"),
        2,
        "public.* is a wildcard: its tables cannot all be x",
        "check",
    ),
    "an entry for what nobody watches": (
        EXAMPLE.replace("{connection: zurich}", "{connection: zurich, tables: {public.planes: {as: x}}}"),
        2,
        "slave zurich: no source that feeds it watches public.planes",
        "check",
    ),
    "two entries for one slave": (
        OFFICES.replace("[zurich, bern]", "[zurich, geneva]"),
        2,
        "two entries of `slaves` are about geneva, geneva is one of them",
        "check",
    ),
    "an entry for nobody": (
        OFFICES.replace("[zurich, bern]", "[]"),
        2,
        "slaves.offices.names: List should have at least 1 item",
        "check",
    ),
    "a fault in an entry for several": (
        OFFICES.replace("[zurich, bern], connection", "[bern, zurich], colour: red, connection"),
        2,
        "is not valid:\n  slaves.offices.colour: unknown key",
        "check",
    ),
    "a fault behind a replication of several": (
        OFFICES.replace("every_s", "every"),
        2,
        "replications.2.schedule.every: unknown key; did you mean every_s?",
        "check",
    ),
    "no mapping": ("- 5", 2, "(the file)", "check"),
}


@pytest.mark.parametrize(("text", "code", "fact", "hint"), FILES.values(), ids=FILES)
def test_a_fault_of_the_file_is_an_error_with_a_hint(read, text, code, fact, hint):
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert caught.value.code == code
    assert fact in caught.value.fact
    assert hint in caught.value.hint


def test_what_is_said_once_may_be_meant_several_times(read):
    text = EXAMPLE.replace("schedule: {every_s: 5}", "schedule: {<<: *often, run_for_s: 1}").replace(
        "slave: zurich}", "slave: zurich, schedule: &often {every_s: 7}}"
    )
    assert [one.schedule.every_s for one in read(text).replications] == [7, 7]


def test_every_fault_of_a_file_is_named_at_once(read):
    with pytest.raises(ConfigError) as caught:
        read(EXAMPLE.replace("tables:", "tabels:").replace("every_s", "every"))
    assert "sources.flights.tables: Field required" in caught.value.fact
    assert "sources.flights.tabels: unknown key; did you mean tables?" in caught.value.fact
    assert "replications.1.schedule.every: unknown key; did you mean every_s?" in caught.value.fact


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"SLC-002: .*nowhere.yaml cannot be read") as caught:
        configuration.load(Path(tmp_path / "nowhere.yaml"))
    assert "SLUICE_CONFIG" in caught.value.hint


@pytest.mark.parametrize(
    "ask", [lambda c: c.source("x"), lambda c: c.slave("x"), lambda c: c.replication("flights", "x")]
)
def test_asking_for_what_is_not_configured_names_it(read, ask):
    with pytest.raises(ConfigError) as caught:
        ask(read(EXAMPLE))
    assert caught.value.code == 3
    assert "x" in caught.value.fact


TABLES = {
    "a.b": ("a", "b"),
    " a.b ": ("a", "b"),
    '"a.b".c': ("a.b", "c"),
    'a."say ""hi"""': ("a", 'say "hi"'),
    'A." B\r"': ("A", " B\r"),
}


@pytest.mark.parametrize(("written", "parts"), TABLES.items())
def test_a_table_is_written_as_schema_and_name(written, parts):
    assert watched.split_table(written) == watched.split_table(str(TableName(*parts))) == parts


WILDCARDS = {
    "a.*": Pattern("a", "", wildcard=True),
    "a.b_*": Pattern("a", "b_", wildcard=True),
    '"A.b".c*': Pattern("A.b", "c", wildcard=True),
    'a."b*"': Pattern("a", "b*"),
    '"a*".b': Pattern("a*", "b"),
    "a.b": Pattern("a", "b"),
}


@pytest.mark.parametrize(("written", "pattern"), WILDCARDS.items())
def test_a_wildcard_is_a_star_at_the_end(written, pattern):
    assert watched.split_pattern(written) == pattern


# A table; the entry of those below that decides about it.
CHOSEN = {
    "x.flights": "x.flights",
    "x.flight_log": None,
    "x.flight_crew": "x.flight*",
    "x.flight_tmp_named": "x.flight_tmp_named",
    "x.flight_tmp_1": None,
    "x.planes": "x.*",
    "y.planes": None,
}


@pytest.mark.parametrize(("name", "entry"), CHOSEN.items())
def test_an_entry_that_names_the_table_wins_then_an_exclusion_then_the_longest_wildcard(name, entry):
    excluded = {"x.flight_log": True, "x.flight_tmp_*": True}
    entries = ["x.*", *excluded, "x.flight*", "x.flights", "x.flight_tmp_named"]
    patterns = [watched.split_pattern(one, excluded=excluded.get(one, False)) for one in entries]
    found = watched.find_entry(patterns, TableName(*name.split(".")))
    assert found == (entry and watched.split_pattern(entry))


@pytest.mark.parametrize("written", ["a", "a.b.c", ".b", "a.", 'a"b.c', ""])
def test_what_is_no_table_is_refused(written):
    with pytest.raises(ValueError, match=r"is no table"):
        watched.split_table(written)


MEETING = {
    "the same": ("repl_", "repl_adopt"),
    "one that gives one of its names": ("REPL_CURRENT_", "repl_current_"),
}


@pytest.mark.parametrize(("prefix", "same"), MEETING.values(), ids=MEETING)
def test_two_sources_that_would_share_a_dbresource_are_refused_as_their_database_folds(read, prefix, same):
    other = f"  other: {{connection: master, prefix: {prefix}, schema: repl, tables: {{a.b: {{}}}}}}\nslaves:\n"
    context = Context(read(EXAMPLE.replace("slaves:\n", other, 1)), {"master": ConnectionInfo("postgres")})
    for one, two in (("flights", "other"), ("other", "flights")):
        with pytest.raises(ConfigError, match=f"SLC-002: sources {one} and {two} would both have a repl.{same}"):
            context.source(one)
    apart = other.replace(prefix, "TWO_")
    assert Context(read(EXAMPLE.replace("slaves:\n", apart, 1)), context.connections).source("other")
