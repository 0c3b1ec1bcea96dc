"""PL/SQL and SQL of Oracle, read by a parser of the grammar, and by a look of our own for what no grammar sees."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from sluice.vendors.oracle.names import LONGEST

PROJECT = Path(__file__).resolve().parents[2]
# Both by name and version, from whatever registry npm is configured to ask.
PACKAGES = ("@griffithswaite/ts-plsql-parser@1.1.1", "antlr4@4.13.0")
_HOME = PROJECT / ".sluice" / "plsql-parser"
_SCRIPT = Path(__file__).with_name("plsql_parse.mjs")
_BLOCK = re.compile(r"\s*(DECLARE|BEGIN|CREATE OR REPLACE (\w+ )?(FUNCTION|PROCEDURE|TRIGGER))\b")


def parser() -> Path:
    """The directory of the parser, installed once; the test is skipped where that cannot be."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("the parser of PL/SQL needs Node.js and npm, which are not here")
    done = _HOME / "installed"
    if not done.exists() or done.read_text(encoding="utf-8") != "\n".join(PACKAGES):
        _HOME.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--prefix", str(_HOME), "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if ran.returncode:
            pytest.skip(f"npm could not install the parser of PL/SQL: {(ran.stderr.splitlines() or ['?'])[0][:200]}")
        done.write_text("\n".join(PACKAGES), encoding="utf-8")
    return _HOME


def digest(text: str) -> str:
    """By which a text is known again that the parser has accepted."""
    return sha256(f"{PACKAGES} {ended(text)}".encode()).hexdigest()[:16]


def errors(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """The errors of each text, if there are any."""
    if not texts:
        return {}
    home = parser()
    script = home / _SCRIPT.name
    # Beside the packages, where Node looks for them.
    shutil.copyfile(_SCRIPT, script)
    given = json.dumps({name: ended(text) for name, text in texts.items()})
    ran = subprocess.run(["node", str(script)], input=given, capture_output=True, text=True, timeout=3600, check=False)
    assert ran.returncode == 0, ran.stderr
    return {name: found for name, found in json.loads(ran.stdout).items() if found}


def ended(text: str) -> str:
    """A statement as a script has it."""
    return f"{text}\n/" if is_block(text) else f"{text};"


def is_block(text: str) -> bool:
    """Whether it is PL/SQL, whose statements end with a semicolon each."""
    return _BLOCK.match(text) is not None


def _words() -> dict[str, frozenset[str]]:
    """The lists of words, each under its name."""
    found: dict[str, frozenset[str]] = {}
    for line in Path(__file__).with_name("plsql_words.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            name = line
        found[name] = found.get(name, frozenset()) | frozenset(line.split() if line.startswith(" ") else ())
    return found


_WORDS = _words()
# SQL Language Reference, "Oracle SQL Reserved Words"; PL/SQL Language Reference, "PL/SQL Reserved Words".
RESERVED = _WORDS["reserved"]
# Words of the two languages, as far as statements of ours use them.
KEYWORDS = _WORDS["keywords"]
TYPES = _WORDS["types"]
FUNCTIONS = _WORDS["functions"]
# Tables of the catalog, and columns that are read of them.
CATALOG = _WORDS["catalog"]
PRAGMAS = _WORDS["pragmas"]
_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*)|(?P<text>'(?:[^']|'')*')|(?P<quoted>"[^"]*")|(?P<bind>:\w+)|(?P<word>[A-Za-z][\w$#]*)|(?P<number>\d+(?:\.\d+)?)
    |(?P<sign>:=|=>|\|\||\.\.|<=|>=|<>|!=|[^\s\w])""",
    re.VERBOSE,
)


def tokens(text: str) -> list[tuple[str, str]]:
    """Kinds and texts; words in lower case."""
    found = [one for one in _TOKEN.finditer(text) if one.lastgroup != "comment"]
    return [(str(one.lastgroup), one[0].lower() if one.lastgroup == "word" else one[0]) for one in found]


def columns_of(definitions: Collection[str]) -> set[str]:
    """The names of columns that statements which make tables declare."""
    declared = r"^\s+(\w+)\s+(?:NUMBER|VARCHAR2|CHAR|CLOB|BLOB)\b"
    made = [text for text in definitions if re.search(r"CREATE (PRIVATE TEMPORARY )?TABLE", text)]
    return {name.lower() for text in made for name in re.findall(declared, text, re.MULTILINE)}


def faults(text: str, columns: Collection[str] = (), longest: int = LONGEST) -> list[str]:
    """What a grammar does not see: names that nobody declared, reserved words as names, names that are too long,
    pragmas that there are not, NEW and OLD without their colon, lengths that are counted in two ways."""
    code = tokens(text)
    declared = set(_declared(code))
    found = [f"{name} is a reserved word" for name in sorted(declared & RESERVED)]
    known = declared | KEYWORDS | RESERVED | TYPES | FUNCTIONS | CATALOG | set(columns)
    for place, (kind, word) in enumerate(code):
        before, after = code[place - 1][1] if place else "", code[place + 1][1] if place + 1 < len(code) else ""
        if kind in ("quoted", "word") and len(word.strip('"').encode()) > longest:
            found.append(f"{word} is longer than {longest} bytes")
        if kind == "word" and before == "pragma" and word not in PRAGMAS:
            found.append(f"{word} is no pragma")
        elif kind == "word" and word == "writeappend":
            # A character beyond 16 bits counts as one in a VARCHAR2 and as two in a CLOB: the last is cut off.
            found.append(f"{word} counts otherwise than LENGTH: dbms_lob.append counts nothing")
        elif kind == "word" and word in ("new", "old") and after == ".":
            found.append(f"{word} has no colon")
        elif kind == "bind" and word.lower() in (":new", ":old") and after != ".":
            found.append(f"{word} has no column")
        elif kind == "word" and before != "." and word not in known and after != "=>":
            found.append(f"{word} is not declared")
    return found


def _declared(code: list[tuple[str, str]]) -> Iterator[str]:
    """The names that a text declares: parameters, variables, types, cursors, aliases, and programs of its own."""
    for place, (kind, word) in enumerate(code):
        if kind != "word":
            continue
        before, after = code[place - 1][1] if place else "", code[place + 1][1] if place + 1 < len(code) else ""
        second = code[place + 2][1] if place + 2 < len(code) else ""
        parameter = before in ("(", ",") and after in ("in", "out")
        variable = before in ("is", ";", "declare", "trigger") and (
            after in TYPES or after == "constant" or (after.endswith("_t") and second in (";", ":="))
        )
        program = before in ("type", "procedure", "function") and after in ("is", "(")
        loop = before in ("for", "forall") and after == "in"
        # Tables of ours, in quotes, and those of the catalog have an alias behind them.
        # So has a table as it was, and a query within one; columns of that have theirs behind AS.
        as_of = place > 1 and code[place - 1][0] == "bind" and code[place - 2][1] == "scn"
        named = place > 0 and (code[place - 1][0] == "quoted" or before in CATALOG or before in (")", "as") or as_of)
        alias = named and after not in ("(", ".")
        if parameter or variable or program or loop or (alias and word not in RESERVED | KEYWORDS):
            yield word
