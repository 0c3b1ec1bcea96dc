"""No statement of ours leaves it to the server whose function or operator it means: others make some, too."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support.sqltext import inexact, signatures, tokens, unqualified

from sluice.vendors.postgresql.session import PINNED

PROJECT = Path(__file__).resolve().parents[2]
SQL = PROJECT / "sql" / "postgresql"
FILES = {
    str(file.relative_to(SQL).with_suffix("")): file.read_text(encoding="utf-8") for file in sorted(SQL.rglob("*.sql"))
}
KNOWN = signatures(list(FILES.values()))
MAKING = [name for name, text in FILES.items() if "CREATE OR REPLACE FUNCTION" in text]


def test_arguments_are_cast_to_the_types_that_our_functions_declare():
    found = {name: inexact(text, KNOWN, lambda code, place: code[place].text) for name, text in FILES.items()}
    assert not {name: calls for name, calls in found.items() if calls}


def test_statements_within_the_code_cast_their_arguments_too():
    found = set()
    for file in (PROJECT / "include" / "sluice" / "vendors" / "postgresql").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {one[1] for one in re.finditer(r"\{\}\(([^()]*%s[^()]*)\)", node.value)}
    assert found
    assert not [call for call in found if not all("::" in argument for argument in call.split(","))]


def test_sessions_of_ours_look_names_up_in_the_catalog_alone():
    assert PINNED["search_path"] == "pg_catalog, pg_temp"


def test_functions_look_names_up_in_the_catalog_alone_or_qualify_them():
    assert not [name for name in MAKING if not resolves_alone(FILES[name])]


def resolves_alone(text: str) -> bool:
    """Whether nobody's search_path changes what a function means. The server resolves a body after RETURN at once."""
    words = [token.text for token in tokens(text)]
    pinned = "SET search_path = pg_catalog , pg_temp" in " ".join(words)
    return pinned or ("RETURN" in words and "$" not in text) or not unqualified(text.partition(" AS $")[2])


def test_operators_with_a_schema_are_those_of_the_catalog():
    schemas = {schema for text in FILES.values() for schema in re.findall(r"OPERATOR\((\w+)\.", text)}
    assert schemas == {"pg_catalog"}


# Whose settings they are that statements read or write.
SETTINGS = {
    "block_size": "the server's",
    "max_identifier_length": "the server's",
    "server_version_num": "the server's",
    "max_replication_slots": "the server's",
    "hot_standby_feedback": "the server's",
    "primary_slot_name": "the server's",
    "synchronized_standby_slots": "the server's",
    "wal_level": "the server's",
    "track_counts": "a superuser's: no other session can write it",
    "session_replication_role": "our own session's, on a slave",
    "transaction_isolation": "what the transaction is: where it hides too much, changes are LOST and told",
    "role": "that of whoever runs the script of rights",
    "sluice.may_watch_ddl": "our own session's: what it found when it tried",
    "sluice.may_replicate": "the same",
    "sluice.session": "our own session's mark, which tells one behind a pooler from another",
    "sluice.purge": "asked for by a guard against mistakes: who may write it may write to the queue anyway",
    "sluice.dropper": "written by an event trigger right before another one reads it, in every statement",
}


def test_no_setting_that_a_session_can_write_decides_what_is_captured():
    found = set()
    for text in FILES.values():
        found |= set(re.findall(r"(?:current_setting|set_config)\('([^']+)'", text))
    assert found == set(SETTINGS)


BAD = {
    "a literal": "SELECT {note}('a', x::oid[])",
    "another type": "SELECT {note}('a'::text, x::oid)",
    "a cast of a part": "SELECT {note}('a' || b::text, x::oid[])",
    "none": "SELECT {note}(a, x::oid[])",
    "one too many": "SELECT {note}('a'::text, x::oid[], 1::integer)",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_what_is_not_exact_is_found(text):
    assert inexact(text, KNOWN, lambda code, place: code[place].text)


LOOSE = ["a = b", "a OPERATOR(s.=) b", "a LIKE b", "f(a)", "a::text", "a IS DISTINCT FROM b", "a IN (1)", "n text;"]


@pytest.mark.parametrize("text", LOOSE)
def test_what_a_search_path_decides_is_found(text):
    assert unqualified(text)


@pytest.mark.parametrize(
    "text", ["a.b::s.t OPERATOR(s.=) c.b::s.t", "pg_catalog.f(a) OPERATOR(pg_catalog.=) 'b'::pg_catalog.text"]
)
def test_what_is_exact_is_let_through(text):
    assert unqualified(text) == []
