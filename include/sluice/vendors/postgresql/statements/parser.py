"""Parses statements: the tables that they name, and what they do."""

from __future__ import annotations

import logging
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp, parse_one
from sqlglot.dialects.postgres import Postgres
from sqlglot.tokenizer_core import Token, TokenType

from sluice.config.mapper import Mapper
from sluice.errors import SluiceError
from sluice.model.names import TableName
from sluice.vendors.protocol.statement_errors import unmapped

# It warns about everything that it only reads as a command.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_READING = {"SELECT", "VALUES", "TABLE"}
_WRITING = {"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE"}
_DEFINING = {"CREATE", "ALTER", "DROP", "COMMENT", "GRANT", "REVOKE", "REFRESH"}
_BLOCKS = {"DO", "CALL"}
_ACCOUNTS = {"ROLE", "USER", "GROUP", "SUBSCRIPTION", "SERVER"}
_STRINGS = {kind for kind in TokenType if kind.name.endswith("STRING")}
_CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge)

# What is another value on another node, although the catalog calls it stable; without parentheses, and with.
_BARE = {"current_timestamp", "current_date", "current_time", "localtime", "localtimestamp", "current_user",
         "session_user", "current_role", "ctid", "xmin", "xmax", "tableoid"}  # fmt: skip
_CALLED = {"now", "transaction_timestamp", "statement_timestamp", "currval", "lastval", "txid_current",
           "pg_current_xact_id", "pg_current_snapshot", "pg_backend_pid", "inet_server_addr", "inet_server_port",
           "inet_client_addr", "inet_client_port", "current_database", "current_setting", "version",
           "pg_postmaster_start_time", "pg_conf_load_time"}  # fmt: skip
# The same, unless a table stands before it: then it is a column.
_SELVES = {"user", "system_user", "current_catalog", "current_schema"}
_MOMENTS = {"now", "today", "tomorrow", "yesterday"}
# What else may be in a text that is read as one of these.
_CLOCK = re.compile(r"allballs|am|pm|z|zulu|utc|gmt|[-+\d:.,]+")
_NUMBERED = {"serial", "bigserial", "smallserial", "identity"}


@dataclass(frozen=True)
class DefaultsTarget:
    """A table that a statement writes defaults to; `given` columns get values from the statement itself."""

    schema: str | None
    table: str
    given: frozenset[str]


@dataclass(frozen=True)
class ParsedStatement:
    """A parsed statement.

    Attributes:
        reads: it is a query that changes nothing.
        defines: it may change what tables are.
        alters: those that it names, among others.
        opaque: nobody can tell what it does without executing it.
        varying: words in it that mean another value on another node.
        called: names in it that may be functions.
        targets: tables whose defaults it may use.
    """

    reads: bool
    defines: bool
    alters: bool
    opaque: bool
    varying: frozenset[str]
    called: frozenset[str]
    targets: tuple[DefaultsTarget, ...]
    tables: tuple[tuple[str | None, str], ...]


def parsed(text: str) -> ParsedStatement:
    """Look into one statement.

    Raises:
        SluiceError: SLC-100 it is not one statement of a kind that is executed everywhere, SLC-101 it must be alone.
    """
    tokens = _tokens(text)
    first = tokens[0].text.upper() if tokens else ""
    words = {token.text.upper() for token in tokens[1:4]}
    if first == "VACUUM" or (first in {"CREATE", "DROP", "REFRESH"} and "CONCURRENTLY" in words):
        raise cannot_be_in_a_transaction(first)
    if first not in _READING | _WRITING | _DEFINING | _BLOCKS | {"WITH"}:
        raise _refused(f"{first or 'nothing'} is no statement that is executed everywhere")
    if "\0" in text or any(token.token_type is TokenType.SEMICOLON for token in tokens[:-1]):
        raise _refused("there is more than one statement")
    if first in {"CREATE", "ALTER", "DROP"} and words & _ACCOUNTS:
        raise _refused("roles and servers are no part of a replicated database, and a password would be recorded")
    tree = _tree(text)
    changes = list(tree.find_all(*_CHANGES)) if tree else []
    reads = first in _READING or (first == "WITH" and isinstance(tree, exp.Query) and not changes)
    needs_tree = first in _WRITING | {"WITH"} and first != "TRUNCATE"
    return ParsedStatement(
        reads=reads,
        defines=first in _DEFINING | _BLOCKS,
        alters=first in {"ALTER", "DROP"},
        opaque=first in _BLOCKS or (needs_tree and tree is None),
        varying=frozenset(_varying(tokens, altering=first == "ALTER")),
        called=frozenset(_called(tokens)),
        targets=tuple(_targets(changes, {token.text.lower() for token in tokens if _is_name(token)})),
        tables=tuple(_tables(tree)) if tree else (),
    )


def varying(expression: str) -> tuple[frozenset[str], frozenset[str]]:
    """The same of a column's default: words that mean another value elsewhere, and names that may be functions."""
    tokens = _tokens(expression)
    return frozenset(_varying(tokens, altering=False)), frozenset(_called(tokens))


def columns(expression: str) -> set[str]:
    """The columns that an expression of a table's own names; none if it cannot be parsed."""
    tree = _tree(f"SELECT {expression}")
    return {_folded(column.this) for column in tree.find_all(exp.Column)} if tree else set()


def mapped(text: str, mapper: Mapper, schema: str) -> str:
    """The statement under a slave's names; as it is, if the slave calls everything as the master does.

    Only names that the parser took for tables are replaced, in place: nothing else of the text changes.

    Args:
        schema: where the master looks for what is named without a schema.

    Raises:
        SluiceError: SLC-103, a name of something that the slave calls otherwise stands where nobody knows what it
            names, or a table is named that the slave does not have as it is.
    """
    renamed = {ours for ours, theirs in mapper.schemas.items() if ours != theirs}
    if not (renamed or mapper.tables or mapper.stylesheet):
        return text
    tree = _tree(text)
    if tree is None:
        if renamed or mapper.stylesheet or any(_taken(word, mapper) for word in re.findall(r"\w+", text)):
            raise unmapped("it cannot be parsed")
        return text
    spots = dict(_spots(tree, mapper, schema))
    _refuse_others(text, spots, renamed, {one.table for one in mapper.tables if not one.wildcard})
    for start in sorted(spots, reverse=True):
        end, name = spots[start]
        text = text[:start] + (name or text[start : end + 1]) + text[end + 1 :]
    return text


def cannot_be_in_a_transaction(what: str) -> SluiceError:
    """Why a statement is refused that the database executes outside of transactions only."""
    return SluiceError(
        101,
        f"{what} cannot run in a transaction, so it cannot be executed everywhere exactly once",
        "execute it on each database by itself; nothing was changed",
    )


def _tokens(text: str) -> list[Token]:
    try:
        return Postgres().tokenize(text)
    except Exception:
        raise _refused("it cannot be read") from None


def _tree(text: str) -> exp.Expr | None:
    try:
        tree = parse_one(text, read="postgres")
    except Exception:
        # It stumbles over some texts with errors of other kinds than its own.
        return None
    return None if tree is None or tree.find(exp.Command) or not all(map(_is_named, tree.find_all(exp.Table))) else tree


def _is_named(table: exp.Table) -> bool:
    """Whether its name is one that PostgreSQL has: `a..t` and `a.b.c.t` are parsed, too."""
    before = [table.args[part] for part in ("db", "catalog") if table.args.get(part) is not None]
    return not isinstance(table.this, exp.Dot) and all(isinstance(part, exp.Identifier) for part in before)


def _is_name(token: Token) -> bool:
    return token.token_type not in _STRINGS and token.token_type is not TokenType.NUMBER


def _name_of(token: Token) -> str:
    return token.text if token.token_type is TokenType.IDENTIFIER else token.text.lower()


def _called(tokens: Sequence[Token]) -> Iterator[str]:
    for token, after in pairwise(tokens):
        if after.token_type is TokenType.L_PAREN and _is_name(token):
            yield _name_of(token)


def _varying(tokens: Sequence[Token], *, altering: bool) -> Iterator[str]:
    bare = _BARE | (_NUMBERED if altering else set())
    for before, token in zip([None, *tokens], tokens, strict=False):
        word = token.text.lower()
        if token.token_type in _STRINGS:
            if _is_a_moment(word):
                yield f"'{token.text}'"
        elif token.token_type is not TokenType.IDENTIFIER and (
            word in bare or (word in _SELVES and (before is None or before.text.upper() not in {".", "AS"}))
        ):
            yield word
    yield from _CALLED.intersection(_called(tokens))
    if _counts_from_today(tokens):
        yield "age() of one value"


def _is_a_moment(text: str) -> bool:
    """Whether a time may be read from it that depends on when it is read: 'now', 'today 08:00'."""
    words = text.split()
    return not _MOMENTS.isdisjoint(words) and all(one in _MOMENTS or _CLOCK.fullmatch(one) for one in words)


def _counts_from_today(tokens: Sequence[Token]) -> bool:
    """Whether an age is asked for that no second value bounds."""
    for place, (token, after) in enumerate(pairwise(tokens)):
        if after.token_type is not TokenType.L_PAREN or not _is_name(token) or _name_of(token) != "age":
            continue
        depth = 0
        for one in tokens[place + 1 :]:
            depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(one.token_type, 0)
            if depth == 1 and one.token_type is TokenType.COMMA:
                break
            if depth == 0:
                return True
    return False


def _targets(changes: Sequence[exp.Expr], words: set[str]) -> Iterator[DefaultsTarget]:
    for change in changes:
        if isinstance(change, exp.Delete) or (isinstance(change, exp.Update) and "default" not in words):
            continue
        into = change.this
        listed = into.expressions if isinstance(into, exp.Schema) and "default" not in words else []
        table = into.this if isinstance(into, exp.Schema) else into
        if isinstance(table, exp.Table):
            schema = table.args.get("db")
            given = frozenset(_folded(column) for column in listed if isinstance(column, exp.Identifier))
            yield DefaultsTarget(_folded(schema) if schema else None, _folded(table.this), given)


def _tables(tree: exp.Expr) -> Iterator[tuple[str | None, str]]:
    """Every table that it names, written or read; a CTE is none."""
    within = {cte.alias for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        schema = table.args.get("db")
        if isinstance(table.this, exp.Identifier) and (schema is not None or _folded(table.this) not in within):
            yield (_folded(schema) if schema else None, _folded(table.this))


def _folded(identifier: exp.Expr) -> str:
    return str(identifier.this) if identifier.args.get("quoted") else str(identifier.this).lower()


def _taken(word: str, mapper: Mapper) -> bool:
    return any(one.takes(TableName(one.schema, word)) for one in mapper.tables)


def _spots(tree: exp.Expr, mapper: Mapper, schema: str) -> Iterator[tuple[int, tuple[int, str]]]:
    """The spans of names of tables and schemas in the text, with their replacements; empty: the name stays."""
    within = {cte.alias for cte in tree.find_all(exp.CTE)}
    bare: dict[str, TableName] = {}
    for node in tree.find_all(exp.Table):
        of, table = node.args.get("db"), node.this
        if not isinstance(table, exp.Identifier):
            if of is not None:
                yield _spot(of, mapper.schema(_folded(of)))
            continue
        if of is None and _folded(table) in within:
            continue
        name = TableName(_folded(of) if of else schema, _folded(table))
        mapped = mapper.table(name)
        if not mapper.whole(name):
            raise unmapped(f"the slave does not have {name} as it is")
        if mapped != TableName(mapper.schema(name.schema), name.table) and tree.find(exp.AlterRename):
            raise unmapped(f"a table that the slave calls {mapped} is renamed")
        if of is not None:
            yield _spot(of, mapped.schema)
            yield _spot(table, mapped.table)
        else:
            moved = mapped.schema != mapper.schema(schema)
            yield _spot(table, mapped.table, mapped.schema if moved else None)
            if not node.alias:
                bare[name.table] = mapped
    for column in tree.find_all(exp.Column):
        of, table = column.args.get("db"), column.args.get("table")
        if of is not None and table is not None:
            mapped = mapper.table(TableName(_folded(of), _folded(table)))
            yield _spot(of, mapped.schema)
            yield _spot(table, mapped.table)
        elif table is not None and _folded(table) in bare:
            yield _spot(table, bare[_folded(table)].table)


def _spot(identifier: exp.Expr, name: str, schema: str | None = None) -> tuple[int, tuple[int, str]]:
    if "start" not in identifier.meta:
        raise unmapped("it is not told where a table is named")
    if schema is None and name == _folded(identifier):
        return identifier.meta["start"], (identifier.meta["end"], "")
    text = ".".join('"' + part.replace('"', '""') + '"' for part in (schema, name) if part is not None)
    return identifier.meta["start"], (identifier.meta["end"], text)


def _refuse_others(text: str, spots: Container[int], schemas: set[str], tables: set[str]) -> None:
    """Refuse names of schemas and tables that the slave calls otherwise, wherever they stand but in these spots."""
    tokens = _tokens(text)
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        if token.token_type in _STRINGS:
            if any(f"{name}." in token.text or token.text.strip() == name for name in schemas):
                raise unmapped("a text in it names a schema that is called otherwise here")
            if tables.intersection(re.findall(r"\w+", token.text)):
                raise unmapped("a text in it may name a table that is called otherwise here")
        elif token.start in spots:
            continue
        elif _name_of(token) in schemas:
            qualifies = after is not None and after.token_type is TokenType.DOT
            inner = before is not None and before.token_type is TokenType.DOT
            if (qualifies and not inner) or (before is not None and before.text.upper() == "SCHEMA"):
                raise unmapped(f"{text[token.start : token.end + 1]} in it is no schema of a table")
        elif _is_name(token) and _name_of(token) in tables:
            raise unmapped(f"{text[token.start : token.end + 1]} in it is perhaps a table")


def _refused(why: str) -> SluiceError:
    return SluiceError(
        100,
        f"the statement is refused: {why}",
        "nothing was changed; write one that reads, writes or defines, without COPY, SET and transaction control",
    )
