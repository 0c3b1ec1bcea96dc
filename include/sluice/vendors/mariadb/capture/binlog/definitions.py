"""Statements of the log: which tables one defines or empties. No more of it is understood than that.

Each form is read from its first word to the end of its names. Another form than those that are known is refused: a
statement that is passed over could be one that empties a table.

Source: MariaDB Knowledge Base, "ALTER TABLE", "DROP TABLE", "RENAME TABLE", "TRUNCATE TABLE", "CREATE TABLE",
"SET STATEMENT".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise

from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog.alterations import Does, altered, created, outside
from sluice.vendors.mariadb.capture.binlog.events import Query
from sluice.vendors.mariadb.capture.binlog.grammar import Parser
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood, Token, readings
from sluice.vendors.mariadb.charsets import Charsets

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
    found = [
        definition(query.schema, tokens, query.raw, acts=not query.server.logs_actions, folds=query.server.folds)
        for tokens in readings(query, charsets)
    ]
    if any(one != found[0] for one in found):
        raise NotUnderstood("its names are in one character set or in another")
    if any(one.rest != found[0].rest for one in found):
        return replace(found[0], rest=None)
    return found[0]


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
    writes = any(one.is_read and one.is_word("SELECT") for one in parser.rest)
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
