"""SQL by name: every statement is used, every name used exists, one statement a file."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SQL = PROJECT / "sql"
# A vendor whose statements only its own code names; those of the first one may be named anywhere else.
FIRST, *OTHERS = VENDORS = ("postgresql", "mariadb", "gaussdb", "oracle")
FILES = sorted(file for vendor in VENDORS for file in (SQL / vendor).rglob("*.sql"))
PLSQL = re.compile(r"\s*(BEGIN|CREATE OR REPLACE (FUNCTION|PROCEDURE) \S+[^$]*\sIS\s)")
NAME = re.compile(r"(?:[a-z_]+/)+[a-z0-9_]+")


def vendor_of(code: Path) -> str:
    return next((one for one in OTHERS if f"vendors/{one}/" in str(code)), FIRST)


@cache
def literals(vendor: str) -> tuple[set[str], set[str]]:
    """The texts in the code that may name a vendor's statements, and the fixed beginnings of its f-strings."""
    texts: set[str] = set()
    heads: set[str] = set()
    for file in [*(PROJECT / "include").rglob("*.py"), *(PROJECT / "deploy").rglob("*.py")]:
        # What vendors share calls a statement by its name in a room of theirs.
        if vendor_of(file) != vendor and file.parent.name != "vendors":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                heads.add(str(node.values[0].value))
    return texts, heads


def label(file: Path) -> str:
    return str(file.relative_to(SQL).with_suffix(""))


def test_every_statement_is_used():
    assert FILES
    assert not [label(file) for file in FILES if not is_used(file)]


def is_used(file: Path) -> bool:
    vendor, _, statement = label(file).partition("/")
    texts, heads = literals(vendor)
    folder = statement.rpartition("/")[0]
    whole = statement in texts
    # `names("postgresql", "capture/install")` takes a folder in its numbered order.
    enumerated = folder in texts and re.match(r"\d{3}_", file.name) is not None
    composed = f"{folder}/" in heads and file.stem in texts
    return whole or enumerated or composed


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_name_used_is_a_file(vendor):
    folders = {str(file.parent.relative_to(SQL / vendor)) for file in FILES if file.is_relative_to(SQL / vendor)}
    named = {text for text in literals(vendor)[0] if NAME.fullmatch(text) and text.rpartition("/")[0] in folders}
    assert named
    assert not {name for name in named if not (SQL / vendor / f"{name}.sql").exists()}


# A block of PL/SQL has semicolons; a parser reads each of its files as one unit.
def test_a_file_holds_one_statement():
    files = [file for file in FILES if not file.is_relative_to(SQL / "oracle")]
    assert not [label(file) for file in files if ";" in bare_code(file).strip().rstrip(";")]


def bare_code(file: Path) -> str:
    """A file's text without its comments, the bodies of its functions and its literals."""
    text = re.sub(r"--[^\n]*", "", file.read_text(encoding="utf-8"))
    # The statements of a program of PL/SQL, and of pieces of one, end with semicolons: a parser counts these.
    text = "" if PLSQL.match(text) or file.is_relative_to(SQL / "oracle" / "capture" / "trigger") else text
    text = re.sub(r"(?s)(\$\w+\$|\{quote\}).*?\1", "", text)
    return re.sub(r"'[^']*'", "", text)


def test_identifiers_are_placeholders_and_never_pasted():
    texts = {label(file): file.read_text(encoding="utf-8") for file in FILES}
    assert not [name for name, text in texts.items() if "{}" in text]
    assert not [name for name, text in texts.items() if re.search(r"(?<!%)%s\b", text) and "format('" not in text]
