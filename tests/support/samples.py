"""Right texts and values of every kind that enters from outside; nearly right ones are made of them."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from sluice.messages import column_literal
from sluice.messages.message import ColumnName, Description, Message, Row
from sluice.messages.xml_writer import render
from sluice.model.layout import Column
from sluice.model.names import TableName
from sluice.model.statement import Statement
from sluice.vendors.postgresql.catalog.definition import ColumnDefinition, PostgresTable

CONFIGURATIONS: tuple[Any, ...] = (
    {
        "sources": {"flights": {"connection": "m", "tables": {"public.legs": {}}}},
        "slaves": {"zurich": {"connection": "z"}},
        "replications": [{"source": "flights", "slave": "zurich"}],
    },
    {
        "dag_prefix": "x_",
        "sources": {
            "flights": {
                "connection": "m",
                "prefix": "REPL_",
                "tables": {"public.*": {"actions": "IU"}, "public.x*": {"exclude": True}, 's."a.b"': {"trigger": "t"}},
                "schedule": {"every_s": 5, "run_for_s": 1.5},
            }
        },
        "slaves": {
            "branch": {
                "connection": "{name}_db",
                "names": ["zurich", "geneva"],
                "schemas": {"public": "branch"},
                "tables": {
                    "public.legs": {"as": "b.l", "columns": {"a": "b"}, "exclude_columns": ["c"], "where": "a > 5"},
                    "public.p*": {"mask": {"a": "redact"}, "compute": {"d": "a || 'x'"}, "before": {"I": "SELECT 1"}},
                },
                "initial_files": {"location": "in"},
                "on_existing_rows": "truncate",
            }
        },
        "replications": [{"source": "flights", "slave": "branch", "mode": "one_to_one", "schedule": {"poll_s": 1}}],
    },
)
YAML = (
    """
sources:
  f: {connection: &c m, tables: {public.t: , s.u*: }}
slaves:
  z: {connection: *c}
replications:
- source: f
  slave: z
""",
    """
sources: {f: {connection: m, prefix: "R_", tables: {public.t: {actions: IU}}}}
slaves: {}
replications: []
""",
)
YAML_WORDS = (
    *("2024-13-45", "0b", "0o9", "1:60:99", "!!binary x", "!!timestamp x", "!!float x", "!!bool x", "!!set", "!!omap"),
    *("- ", "? ", "|\n", "&b ", "*b", "%YAML 3\n---\n", "---\n", "[*c, *c]"),
)
EXPRESSION = {
    "condition": (
        *("b", "TRUE", "NULL", "{condition} AND {condition}", "({condition}) OR {condition}", "NOT {condition}"),
        *("{number} {sign} {number}", "{text} {sign} {text}", "{moment} {sign} {moment}", "{any} IS NOT NULL"),
        *("{number} BETWEEN {number} AND {number}", "{number} IN ({number}, {number}, NULL)", "{text} NOT IN ('a', t)"),
        *("{text} LIKE '%a_\\%'", "{text} NOT ILIKE 'A%é'", "new.i IS DISTINCT FROM old.i", "{condition} IS NOT TRUE"),
        "CASE WHEN {condition} THEN {condition} ELSE {condition} END",
    ),
    "number": (
        *(
            "i",
            "n",
            "d",
            "f",
            "7",
            "1.50",
            "1e3",
            "-{number}",
            "({number})",
            "{number} {operator} {number}",
            "length(c)",
        ),
        *(
            "abs({number})",
            "round({number}, {number})",
            "round(d)",
            "NULLIF({number}, {number})",
            "r::double precision",
        ),
        *("COALESCE({number}, {number})", "CASE i WHEN {number} THEN {number} ELSE {number} END", "{number}::bigint"),
        *("{text}::numeric(9, 2)", "CAST({text} AS integer)", "d / {number}", "{number}::numeric"),
    ),
    "text": (
        *("t", "v", "c", "'a''b'", "'1e15'", "'-7'", "{text} || {any}", "concat({any}, {any}, NULL)", "upper({text})"),
        *("lower({text})", "substr({text}, {number}, {number})", "trim(both 'ab' from {text})", "rtrim({text}, 'x')"),
        *("{any}::text", "{any}::varchar(3)", "COALESCE({text}, {text})", "CASE WHEN {condition} THEN {text} END"),
    ),
    "moment": (
        *("day", "at", "tz", "'2013-01-31 12:59:59.5'", "'infinity'", "{text}::date", "{moment}::timestamptz"),
        *("CAST({moment} AS timestamp)", "date '0044-03-16 BC'", "COALESCE({moment}, {moment})"),
    ),
    "any": ("u", "NULL", "{condition}", "{number}", "{text}", "{moment}"),
    "sign": ("=", "<>", "<", "<=", ">", ">="),
    "operator": ("+", "-", "*", "/", "%"),
}
COLUMNS = [
    Column(name, type_)
    for name, type_ in {
        **{"i": "integer", "n": "bigint", "d": "numeric", "f": "double precision", "r": "real", "t": "text"},
        **{"v": "character varying(20)", "c": "character(5)", "b": "boolean", "day": "date", "u": "uuid"},
        **{"at": "timestamp without time zone", "tz": "timestamp with time zone"},
    }.items()
]
ROWS = pa.array(
    [
        ["1", "9223372036854775807", "1.50", "0.1", "0.1", "a", "b", "a    ", "t", "2013-01-31", None, None, None],
        [
            "-7",
            "-5",
            "NaN",
            "NaN",
            "1e-20",
            "Ab\n",
            "  x ",
            "é",
            "f",
            "infinity",
            None,
            "0044-03-15 01:02:03 BC",
            "-infinity",
        ],
        [None] * len(COLUMNS),
    ],
    pa.list_(pa.string()),
)
STATEMENT = {
    "statement": (
        "UPDATE {table} SET v = 1",
        "INSERT INTO {table} (a, b) VALUES ({value}, DEFAULT) ON CONFLICT (a) DO UPDATE SET b = excluded.b RETURNING *",
        "UPDATE {table} AS x SET v = y.v, w = {value} FROM {table} y WHERE {where}",
        "WITH gone AS (DELETE FROM {table} WHERE {where} RETURNING *) SELECT count(*) FROM gone, {table}",
        "ALTER TABLE {table} ADD COLUMN IF NOT EXISTS n numeric(5, 2) DEFAULT {value} CHECK (n > 0)",
        "TRUNCATE {table}, {table} RESTART IDENTITY CASCADE",
        "CREATE TABLE n (LIKE {table} INCLUDING ALL, id int GENERATED ALWAYS AS IDENTITY)",
        "MERGE INTO {table} t USING {table} s ON {where} WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN DO NOTHING",
        "SELECT {value} FROM {table} JOIN {table} USING (id) WHERE {where} UNION ALL TABLE {table} -- so",
        "DO $$ BEGIN PERFORM 1; END $$ /* done */",
        "GRANT SELECT ON {table} TO public",
        "COMMENT ON COLUMN {table}.x IS E'y\\n'",
        "CREATE INDEX i ON {table} (({value}))",
        "DROP TABLE IF EXISTS {table} CASCADE",
    ),
    "table": (
        *("t", "public.t", 'public."T.x"', "only_new", "other.u", "public.kind", "ONLY s.x", "far..t", "a.b.c.t"),
        *("t *", "(SELECT {value} FROM {table}) q"),
    ),
    "where": ("x.id = y.id", "EXISTS (SELECT 1 FROM {table})", "{value} = {value}", "x.n = 'public.t' AND {where}"),
    "value": ("1", "now()", "'2013'", "nextval('t')", "public.t.v", "{value} + {value}", "f({value})", "CURRENT_DATE"),
}
RANGE = {
    "range": ("public.legs: 1 .. 2", "{table}: {bound} .. {bound}", "{table}:{bound}..{bound}"),
    "table": ("s.t", 'public."a: ""b"', ' "x".y '),
    "bound": ("", "{value}", "({value}, {value})", "{value}, {value}, {value}"),
    "value": ("2013", "'UA'", "'it''s'", "-5.5", "a.b", "''"),
}
MESSAGES = (
    render(
        Message(
            Description("CREATE", "7", (ColumnName("a b", {"type": "int", "pos": "1"}),), {"dbId": "x", "n": None}),
            (
                Row((("id", "5"), ("v", "<&>"), ("b", b"\0\1"), ("n", None)), {"action": "UPDATE"}, (("id", "4"),)),
                Row((("id", "\0"),), {"x\0": "]]>"}),
            ),
        )
    ),
    "<messages><sql><desc><command>X</command><ident>1</ident></desc><row num='0'><attr name='oldContent'>"
    "<col name='a'>1</col></attr></row></sql></messages>",
)
LITERALS = (
    column_literal.render(["id", 'na"me', "raw", "none", "odd"], ["5", "<&>", b"\xff", None, "]]>"]),
    column_literal.render(["a"], [""]),
)
COMMANDS = (
    {
        "after": {
            "schema": "public",
            "table": "t",
            "columns": [{"number": 1, "name": "id", "type": "integer", "not_null": True, "counter": "1"}],
            "key": ["id"],
            "constraints": [["t_pkey", "PRIMARY KEY (id)"]],
            "foreign_keys": [
                {"name": "f", "columns": ["id"], "schema": "s", "table": "p", "parent_columns": ["id"],
                 "on_update": "a", "on_delete": "c", "full": False, "deferrable": False, "deferred": False}
            ],
            "types": [{"oid": 5, "schema": "s", "name": "e", "kind": "TYPE", "parts": [], "labels": ["x"]}],
            "indexes": [["i", True, "CREATE INDEX"]],
        },
        "statement": "CREATE TABLE t ()",
    },
)  # fmt: skip
ISSUED = (json.loads(Statement(7, "SELECT 1", "public", True, 10).to_json()),)
MANIFESTS: tuple[Any, ...] = (
    {
        "version": 2,
        "source": "flights",
        "update": 3,
        "form": "zst",
        "slaves": {"zurich": {"public.t": "ab12"}},
        "snapshot": "10:20:11,12",
        "segment": 1,
        "ordinal": 5,
        "definitions": [
            PostgresTable(
                TableName("public", "t"),
                (ColumnDefinition("id", "integer", True, "plain", None, None, 1, None),),
                (("k", "CHECK (true)"),),
                (),
            ).to_json()
        ],
        "sequences": [
            {"table": {"schema": "public", "table": "t"}, "column": "id",
             "sequence": {"schema": "public", "table": "t_id_seq"}, "last": 5, "cycle": False}
        ],
        "chunks": [
            {"table": {"schema": "public", "table": "t"}, "format": "text", "rows": 7,
             "files": [{"name": "0-a.zst", "bytes": 10, "sha256": "0" * 64}]}
        ],
        "overlap": {"tables": [{"schema": "public", "table": "t"}], "snapshot": "9:9:", "segment": 1, "ordinal": 4,
                    "last_segment": 1, "last_ordinal": 5},
    },
)  # fmt: skip
ADDRESSES = (
    "postgresql://sluice@db1:5432/shop?sslmode=require&host=/var/run",
    "http://admin@[::1]:8080/x",
    "sc://host:15002/;use_ssl=true;user_id=me",
    "spark://host:7077",
    "local[*]",
    "file:///srv/sl%20ave?keep_hours=5",
)


MESSAGE_WORDS = (
    *("encoding='base64'", "type='null'", "encoded='name'", "<?x?>", "&a;", "<!DOCTYPE x [<!ENTITY a 'b'>]>"),
)
IMAGES = ('(5,"a, b",,"x""y\\\\")', "(,,,)", '(1,2,"\n",4)')
