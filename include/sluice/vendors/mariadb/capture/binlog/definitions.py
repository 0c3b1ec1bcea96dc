"""Statements of the log: which tables one defines or empties. No more of it is understood than that.

Each form is read from its first word to the end of its names. Another form than those that are known is refused: a
statement that is passed over could be one that empties a table.

Source: MariaDB Knowledge Base, "ALTER TABLE", "DROP TABLE", "RENAME TABLE", "TRUNCATE TABLE", "CREATE TABLE",
"SET STATEMENT".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise

from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog.alterations import Does, altered, created, outside, selects
from sluice.vendors.mariadb.capture.binlog.events import Query
from sluice.vendors.mariadb.capture.binlog.grammar import Parser
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood, Token, modes_of, readings
from sluice.vendors.mariadb.charsets import Charsets, is_text

# A statement of these changes rows, if it is in the log at all.
_WRITING = {"INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "CALL", "WITH", "EXECUTE", "DO", "SELECT", "VALUES"}
# Those of these change no row of a table.
_HARMLESS = {"GRANT", "REVOKE", "FLUSH", "OPTIMIZE", "REPAIR", "CHECK", "INSTALL", "UNINSTALL", "XA", "SET"}
_MADE = {"VIEW", "FUNCTION", "PROCEDURE", "PACKAGE", "TRIGGER", "EVENT", "USER", "ROLE", "SERVER", "SEQUENCE", "INDEX"}
_MADE |= {
    "LIBRARY",
    "ALGORITHM",
    "DEFINER",
    "SQL",
    "AGGREGATE",
    "UNIQUE",
    "FULLTEXT",
    "SPATIAL",
    "TABLESPACE",
    "LOGFILE",
}
_NOT_ONE_READING = "another character set or sql_mode gives it another meaning"


class Bound(Enum):
    """A statement about a transaction, and not about tables."""

    BEGINS = "it begins or goes on"
    SAVES = "what follows may be taken back"
    COMMITS = "it ends"
    ROLLS_BACK = "it ends, and does not count"
    ROLLS_BACK_PART = "a part of it does not count"


@dataclass(frozen=True)
class Definition:
    """A statement.

    Attributes:
        tables: those that it names, and what becomes of each, in order.
        schema: the database that it drops with all that is in it.
        writes: it changes rows, and the log does not tell which.
        bound: it is about a transaction.
        unread: why it is not understood what becomes of its tables.
        transaction: of XA: the name of the one that it begins, commits or rolls back.
        savepoint: the name of one that it sets, or goes back to.
        creates: it makes the last of its tables.
        renames: it is a RENAME TABLE, which may be about temporary tables.
        rest: of a CREATE or an ALTER of one table, all that follows its name; None if that is not certain.
    """

    tables: tuple[tuple[TableName, Does], ...] = ()
    schema: str | None = None
    writes: bool = False
    bound: Bound | None = None
    creates: bool = False
    renames: bool = False
    rest: tuple[Token, ...] | None = field(default=None, compare=False)
    unread: str = field(default="", compare=False)
    savepoint: str = field(default="", compare=False)
    transaction: str | None = field(default=None, compare=False)


def understood(query: Query, charsets: Callable[[], Charsets]) -> Definition:
    """What a statement makes of tables. Raises NotUnderstood, that is not certain."""
    # Without a mode quotes are not read at all.
    modes = modes_of(query) if query.mode is not None else ()
    first, *others = (_definition(query, tokens) for tokens in readings(query, charsets, modes))
    if any(other != first for other in others):
        raise NotUnderstood(_NOT_ONE_READING)
    is_certain = all(is_text(word.text) for word in first.rest or () if word.is_name)
    if not is_certain or any(other.rest != first.rest for other in others):
        return replace(first, rest=None)
    return first


def may_name(query: Query, charsets: Callable[[], Charsets], tables: Collection[TableName]) -> set[TableName]:
    """Those of these tables that a statement which is not understood may be about, however it is read."""
    each = readings(query, charsets, modes_of(query))
    return {name for tokens in each for name in _read_names(query, tokens, tables)}


def _read_names(query: Query, tokens: list[Token], tables: Collection[TableName]) -> list[TableName]:
    """The tables that one reading of a statement may be about."""
    try:
        # Each mode has its own reading.
        tokens = _bare(tokens, b"")
        said = _definition(query, tokens)
    except NotUnderstood:
        return [name for name in tables if _is_named(query, tokens, name)]
    return [name for name in tables if name.schema == said.schema or name in dict(said.tables)]


def _is_named(query: Query, tokens: list[Token], name: TableName) -> bool:
    is_here = query.schema == name.schema
    words = [word for word in tokens if word.is_read]
    if len(words) < len(tokens) and _is_written(name.table, query.raw):
        return is_here or _is_written(name.schema, query.raw)
    padded = [*words, *(Token(""),) * 4]
    kind = padded[3 if padded[1].is_word("OR") else 1]
    if padded[0].is_word("DROP", "CREATE", "ALTER") and kind.is_word("DATABASE", "SCHEMA"):
        return any(_is_like(word, name.schema) for word in words)
    return any(
        (is_here and _is_like(word, name.table))
        or (_is_like(word, name.schema) and two.is_sign(".") and _is_like(three, name.table))
        for word, two, three in zip(padded, padded[1:], padded[2:], strict=False)
    )


def _is_like(word: Token, name: str) -> bool:
    """Whether it may be a name: case may not count, and signs beyond ASCII may be any."""
    return word.is_name and (word.text.casefold() == name.casefold() or not (word.text.isascii() or name.isascii()))


def _is_written(name: str, raw: bytes) -> bool:
    """Whether a name is anywhere in a text that cannot be read to its end."""
    # The number of a version may stand before it.
    written = rb"(?<![a-z_$])" + re.escape(name.lower().encode()) + rb"(?![0-9a-z_$])"
    text = raw.replace(b"``", b"`").lower()
    return re.search(written, text) is not None or not (name.isascii() or text.isascii())


def _definition(query: Query, tokens: list[Token]) -> Definition:
    """One reading of a statement. Raises NotUnderstood."""
    said = definition(query.schema, tokens, query.raw, acts=not query.server.logs_actions, folds=query.server.folds)
    if not all(is_text(f"{name.schema}{name.table}") for name, _ in said.tables) or not is_text(said.schema or ""):
        raise NotUnderstood(_NOT_ONE_READING)
    return said


def definition(
    schema: str, tokens: list[Token], raw: bytes = b"", *, acts: bool = True, folds: bool = False
) -> Definition:
    """What a statement, executed in a database, makes of tables. Raises NotUnderstood.

    Args:
        acts: foreign keys change rows without the log.
        folds: names of databases and tables are meant in lower case.
    """
    tokens = _bare(tokens, raw)
    if not tokens:
        return Definition()
    if (bound := _bound(tokens)) is not None:
        named = _xa(tokens) if tokens[0].is_word("XA") else None
        return Definition(bound=bound, savepoint=tokens[-1].text, transaction=named)
    first, parser = tokens[0], Parser(schema, tokens, 1, folds=folds)
    if first.is_word("ANALYZE"):
        writes = not parser.takes("TABLE", "TABLES", "LOCAL", "NO_WRITE_TO_BINLOG")
        return Definition(writes=writes)
    if first.is_word(*_WRITING):
        return Definition(writes=True)
    if first.is_word("TRUNCATE"):
        parser.takes("TABLE")
        return Definition(((_last(parser), Does.EMPTIED),))
    if first.is_word("RENAME"):
        return Definition() if parser.takes("USER") else Definition(_renamed(parser, raw), renames=True)
    if first.is_word("DROP"):
        return _dropped(parser)
    if first.is_word("CREATE"):
        return _created(parser, acts=acts)
    if first.is_word("ALTER"):
        return _altered(parser, acts=acts)
    if first.is_word(*_HARMLESS):
        return Definition()
    raise NotUnderstood("statements of its kind are not known")


def _bare(tokens: list[Token], raw: bytes) -> list[Token]:
    """A statement without the variables that are set for it alone."""
    while len(tokens) > 1 and tokens[0].is_word("SET") and tokens[1].is_word("STATEMENT"):
        place = next((place for place in outside(tokens) if tokens[place].is_word("FOR")), None)
        if place is None:
            raise NotUnderstood("SET STATEMENT has no FOR")
        if any(one.is_name and one.text.upper() == "SQL_MODE" for one in tokens[:place]) and (
            b'"' in raw or b"\\" in raw
        ):
            # The text was read under the mode from before, which the log does not have.
            raise NotUnderstood("its quotes were read under another sql_mode than the log has")
        tokens = tokens[place + 1 :]
    return tokens


def _bound(tokens: list[Token]) -> Bound | None:
    """All of the statement is about a transaction."""
    first, count = tokens[0], len(tokens)
    if count == 1:
        one = {"BEGIN": Bound.BEGINS, "COMMIT": Bound.COMMITS, "ROLLBACK": Bound.ROLLS_BACK}
        return next((bound for word, bound in one.items() if first.is_word(word)), None)
    if first.is_word("SAVEPOINT") and count == 2 and tokens[1].is_name:
        return Bound.SAVES
    if first.is_word("RELEASE") and count == 3 and tokens[1].is_word("SAVEPOINT"):
        return Bound.BEGINS
    if first.is_word("ROLLBACK") and tokens[1].is_word("TO") and count in (3, 4):
        return Bound.ROLLS_BACK_PART
    if first.is_word("XA") and not any(one.is_sign(";") for one in tokens):
        if tokens[1].is_word("START", "END", "BEGIN"):
            return Bound.BEGINS
        if tokens[1].is_word("COMMIT", "ROLLBACK"):
            return Bound.COMMITS if tokens[1].is_word("COMMIT") else Bound.ROLLS_BACK
    return None


def _xa(tokens: list[Token]) -> str | None:
    """The name of a transaction of XA, as it stands: two texts and a number. None in an END, which tells nothing."""
    if tokens[1].is_word("END"):
        return None
    texts = [one.text.lower() for one in tokens[2:] if one.is_quoted]
    return " ".join([*texts, tokens[-1].text])


def _last(parser: Parser) -> TableName:
    """One name, which ends the statement."""
    name = parser.name()
    parser.waits()
    parser.ends()
    return name


def _renamed(parser: Parser, raw: bytes) -> tuple[tuple[TableName, Does], ...]:
    """One name TO another, between commas."""
    parser.expect("TABLE", "TABLES")
    parser.if_exists()
    # A prepared statement has the character set of when it was prepared, and the log that of now: signs of two bytes
    # may hold a quote.
    if any(sign > 0x7F and follower in b"`\"'\\" for sign, follower in pairwise(raw)):
        raise NotUnderstood("the end of a name is not certain")
    found: list[tuple[TableName, Does]] = []
    while True:
        old = parser.name()
        parser.waits()
        parser.expect("TO")
        found += [(old, Does.GONE), (parser.name(), Does.REPLACED)]
        if not parser.takes_sign(","):
            parser.ends()
            return tuple(found)


def _dropped(parser: Parser) -> Definition:
    if parser.takes("DATABASE", "SCHEMA"):
        parser.if_exists()
        name = parser.plain()
        parser.ends()
        return Definition(schema=name)
    is_temporary = parser.takes("TEMPORARY")
    if not is_temporary and parser.takes(*_MADE, "PREPARE"):
        return Definition()
    if is_temporary and parser.takes("SEQUENCE"):
        return Definition()
    parser.expect("TABLE", "TABLES")
    parser.if_exists()
    names = [parser.name()]
    while parser.takes_sign(","):
        names.append(parser.name())
    parser.waits()
    parser.takes("RESTRICT", "CASCADE")
    parser.ends()
    return Definition(() if is_temporary else tuple((name, Does.GONE) for name in names))


def _created(parser: Parser, *, acts: bool) -> Definition:
    replaces = parser.takes("OR")
    if replaces:
        parser.expect("REPLACE")
    if parser.takes("DATABASE", "SCHEMA"):
        parser.if_exists()
        return Definition(schema=parser.plain()) if replaces else Definition()
    is_temporary = parser.takes("TEMPORARY")
    # It may come in place of a table.
    is_sequence = replaces and parser.takes("SEQUENCE")
    if not is_sequence and parser.takes(*_MADE):
        return Definition()
    if not is_sequence:
        parser.expect("TABLE")
    parser.if_exists()
    name = parser.name()
    # Rows that a SELECT gave are in the log as rows, unless the session had another format: then a function may have
    # changed others.
    writes = selects(parser.rest)
    if is_temporary:
        return Definition(writes=writes)
    if is_sequence:
        return Definition(((name, Does.GONE),))
    try:
        tables = created(name, parser, replaces=replaces, acts=acts)
    except NotUnderstood as error:
        # Whatever follows, this is the only table that it makes.
        return Definition(((name, Does.UNREAD),), creates=True, writes=writes, unread=str(error))
    return Definition(tables, creates=True, writes=writes, rest=tuple(parser.rest))


def _altered(parser: Parser, *, acts: bool) -> Definition:
    if parser.takes("DATABASE", "SCHEMA", *_MADE):
        return Definition()
    ignores = False
    while parser.takes("ONLINE") or parser.peeks("IGNORE"):
        ignores |= parser.takes("IGNORE")
    if parser.takes("EVENT", "SEQUENCE"):
        return Definition()
    parser.expect("TABLE")
    parser.if_exists()
    name = parser.name()
    parser.waits()
    return Definition(altered(name, parser, ignores=ignores, acts=acts), rest=tuple(parser.rest))
