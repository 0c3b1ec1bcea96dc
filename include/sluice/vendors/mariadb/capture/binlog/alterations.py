"""What becomes of the rows of a table that is made or altered: the same, others, or such as the log does not have."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from itertools import pairwise

from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog.grammar import Parser
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood, Token

_PARTITIONS = ("DROP", "TRUNCATE", "EXCHANGE", "CONVERT", "DISCARD", "IMPORT")
_NO_COLUMN = ("INDEX", "KEY", "UNIQUE", "PRIMARY", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK", "PARTITION")
# Engines without transactions, or with rows of their own.
_ENGINES = {"MYISAM", "ARIA", "MEMORY", "HEAP", "CSV", "ARCHIVE", "MERGE", "MRG_MYISAM", "FEDERATED", "CONNECT"}
_ENGINES |= {"SPIDER", "ROCKSDB", "MROONGA", "S3", "COLUMNSTORE", "BLACKHOLE", "SPHINX", "OQGRAPH"}


class Does(Enum):
    """What becomes of a table."""

    ALTERED = "it may have other columns from here on, and the same rows"
    RETYPED = "its columns may have other types, which may not hold all values"
    EMPTIED = "it has no rows"
    GONE = "it is not there any more"
    REPLACED = "it has rows of which the log does not tell"
    UNREAD = "it is not understood what becomes of it"
    UNTOLD = "its rows may change from here on without the log"


# Why nobody knows the rows of a table behind these.
UNCLEAR = {
    Does.REPLACED: "it got rows or values of which the log does not tell",
    Does.UNTOLD: "from there on a foreign key or an engine without transactions may change rows without the log",
    Does.UNREAD: "a statement in the binary log is not understood, and may be about it",
    Does.RETYPED: "a session without a strict sql_mode gave it other types, which may have changed values",
}


def created(name: TableName, parser: Parser, *, replaces: bool, acts: bool) -> tuple[tuple[TableName, Does], ...]:
    """The table of a CREATE, from behind its name on."""
    rest = parser.rest
    # Where rows come with it, the log has them, and no SELECT.
    if any(word.is_word("SELECT") or (word.is_word("VALUES") and two.is_sign("(")) for word, two in _unnamed(rest)):
        return ((name, Does.REPLACED),)
    if _is_untold(rest, acts=acts):
        return ((name, Does.UNTOLD),)
    return ((name, Does.GONE if replaces else Does.ALTERED),)


def selects(rest: list[Token]) -> bool:
    """Whether a SELECT is in it, as far as it is read."""
    return any(word.is_word("SELECT") for word, _ in _unnamed([word for word in rest if word.is_read]))


def _unnamed(rest: list[Token]) -> Iterator[tuple[Token, Token]]:
    """Words with what follows each, without those behind a point, which are names."""
    padded = [Token(""), *rest, Token("")]
    for before, word, behind in zip(padded, padded[1:], padded[2:], strict=False):
        if not before.is_sign("."):
            yield word, behind


def altered(name: TableName, parser: Parser, *, ignores: bool, acts: bool) -> tuple[tuple[TableName, Does], ...]:
    """The table of an ALTER from behind its name on, what it is called then, and others that it takes rows of.

    Raises:
        NotUnderstood: a name is missing.
    """
    rest = parser.rest
    renamed: TableName | None = None
    others: list[tuple[TableName, Does]] = []
    does = Does.REPLACED if ignores or _is_swapped(rest) else Does.ALTERED
    for place in outside(rest):
        one = rest[place]
        behind = [other for other in rest[place + 1 : place + 4] if not other.is_word("IF", "EXISTS")]
        next_one = behind[0] if behind else Token("")
        if one.is_word(*_PARTITIONS) and next_one.is_word("PARTITION", "TABLESPACE", "TABLE"):
            does = Does.REPLACED
        elif one.is_word("TABLE"):
            # Whose rows come into a partition, or that gets them.
            others.append((parser.at(place + 1).name(), Does.REPLACED))
        elif one.is_word("RENAME") and not next_one.is_word("COLUMN", "INDEX", "KEY"):
            new = parser.at(place + 1)
            new.takes("TO", "AS")
            new.takes_sign("=")
            renamed = new.name()
        elif does is Does.ALTERED and one.is_word("MODIFY", "CHANGE", "CONVERT", "PRIMARY"):
            # Columns of a primary key hold no NULL any more.
            does = Does.RETYPED
    if does is not Does.REPLACED and _is_untold(rest, acts=acts):
        does = Does.UNTOLD
    if renamed is None:
        return ((name, does), *others)
    kept = () if does in (Does.ALTERED, Does.RETYPED) else ((name, does),)
    return (*kept, (name, Does.GONE), (renamed, Does.REPLACED), *others)


def outside(rest: list[Token]) -> list[int]:
    """The places that are in no brackets. Raises NotUnderstood, there is one too many."""
    depth, found = 0, []
    for place, one in enumerate(rest):
        depth += one.is_sign("(") - one.is_sign(")")
        if not depth:
            found.append(place)
    if depth:
        raise NotUnderstood("a bracket is missing")
    return found


def _is_untold(rest: list[Token], *, acts: bool) -> bool:
    """Whether it says that foreign keys change rows without the log, if they do so, or that another engine has them."""
    padded = [*rest, Token(""), Token("")]
    bare = set(outside(rest))
    for place, (one, two, three) in enumerate(zip(padded, padded[1:], padded[2:], strict=False)):
        if acts and one.is_word("ON") and two.is_word("DELETE", "UPDATE") and three.is_word("CASCADE", "SET"):
            return True
        if one.is_word("ENGINE") and place in bare:
            is_set = two.is_sign("=")
            engine = (three if is_set else two).text.upper()
            if engine in _ENGINES or (is_set and engine != "INNODB"):
                return True
    return False


def _is_swapped(rest: list[Token]) -> bool:
    """Whether a column goes and another one comes under its name: rows then have values that the log does not have."""
    gone: list[str] = []
    made: list[str] = []
    for part in parts(rest):
        words = [one for one in part[:8] if not one.is_word("COLUMN", "IF", "NOT", "EXISTS")]
        names = [one.text.casefold() for one in words[1:4]]
        if len(words) < 2 or words[1].is_word(*_NO_COLUMN):
            continue
        if part[0].is_word("DROP"):
            gone += names[:1]
        elif part[0].is_word("ADD"):
            # More than one between brackets.
            is_list = words[1].is_sign("(")
            inner = parts(part[part.index(words[1]) + 1 : -1]) if is_list else [words[1:]]
            made += [one[0].text.casefold() for one in inner if one]
        elif part[0].is_word("CHANGE") and len(names) > 1 and names[0] != names[1]:
            gone.append(names[0])
            made.append(names[1])
        elif part[0].is_word("RENAME") and len(part) > 1 and part[1].is_word("COLUMN") and len(names) > 2:
            gone.append(names[0])
            made.append(names[2])
    return bool(set(gone) & set(made))


def parts(rest: list[Token]) -> list[list[Token]]:
    """The parts of a statement, between commas that are in no brackets; columns without the name of their table."""
    found = [-1, *(place for place in outside(rest) if rest[place].is_sign(",")), len(rest)]
    return [list(_unqualified(rest[begin + 1 : end])) for begin, end in pairwise(found) if end > begin + 1]


def _unqualified(part: list[Token]) -> Iterator[Token]:
    is_dropped = False
    for one, behind in pairwise([*part, Token("")]):
        is_name = one.is_name and (one.is_quoted or not one.text[:1].isdigit())
        if is_dropped or (is_name and behind.is_sign(".")):
            is_dropped = not is_dropped
            continue
        yield one
