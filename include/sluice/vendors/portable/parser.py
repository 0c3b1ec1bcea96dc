"""Reads a portable statement from its text, which is in the language of PostgreSQL on every node.

Only forms that are listed here are taken; each part of a parsed text has to be one of these. What a parser could have
read otherwise than PostgreSQL does (comments, escapes, casts) is refused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import exp, parse_one
from sqlglot.dialects.postgres import Postgres

from sluice.model.names import TableName
from sluice.vendors.portable.reserved_words import RESERVED
from sluice.vendors.portable.statement import (
    Among,
    Arithmetic,
    Compared,
    Condition,
    Delete,
    Holds,
    Insert,
    IsNull,
    Joined,
    Name,
    Not,
    Null,
    Number,
    Portable,
    Select,
    Shown,
    Text,
    Truth,
    Update,
    Value,
    not_portable,
)

# It warns about everything that it only reads as a command.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_Signs = dict[type[exp.Expr], str]
_COMPARED: _Signs = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_ARITHMETIC: _Signs = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
_FUNCTIONS: _Signs = {exp.Count: "COUNT", exp.Sum: "SUM", exp.Min: "MIN", exp.Max: "MAX"}
_NUMBER = re.compile(r"\d{1,30}(\.\d{1,30})?", re.ASCII)
_MOST_DEEP = 50


def portable(text: str, schema: str) -> Portable:
    """The statement.

    Args:
        schema: where a table without one is.

    Raises:
        SluiceError: SLC-577, it may mean something else in another database.
    """
    tree = _tree(text)
    reader = _Reader(schema)
    if isinstance(tree, exp.Select):
        return reader.select(tree)
    if isinstance(tree, exp.Insert):
        return reader.insert(tree)
    if isinstance(tree, exp.Update):
        return reader.update(tree)
    if isinstance(tree, exp.Delete):
        return reader.delete(tree)
    if isinstance(tree, exp.TruncateTable):
        return reader.truncate(tree)
    raise not_portable("it is no SELECT, INSERT, UPDATE, DELETE or TRUNCATE")


def _tree(text: str) -> exp.Expr:
    try:
        has_comments = any(token.comments for token in Postgres().tokenize(text))
        tree = parse_one(text, read="postgres")
    except Exception:
        # It stumbles over some texts with errors of other kinds than its own.
        raise not_portable("it cannot be parsed") from None
    if has_comments or "\0" in text:
        raise not_portable("it has comments")
    return tree


class _Reader:
    """Reads one."""

    def __init__(self, schema: str) -> None:
        self._schema = schema
        self._table = ""
        self._depth = 0

    def select(self, tree: exp.Expr) -> Select:
        _expect_only(tree, "expressions", "from_", "where", "kind")
        table = self._from(tree.args.get("from_"))
        shown = tuple(self._shown(one) for one in tree.expressions)
        if len({bool(one.function) for one in shown}) != 1:
            raise not_portable("it shows columns beside sums or counts")
        return Select(table, shown, self._where(tree))

    def insert(self, tree: exp.Expr) -> Insert:
        _expect_only(tree, "this", "expression")
        into, values = tree.this, tree.args.get("expression")
        if not isinstance(into, exp.Schema) or not isinstance(values, exp.Values):
            raise not_portable("an INSERT has a list of columns and VALUES, and no other form")
        _expect_only(into, "this", "expressions")
        _expect_only(values, "expressions")
        table = self._named(into.this)
        columns = tuple(_folded(one) for one in into.expressions)
        rows = []
        for row in values.expressions:
            if not isinstance(row, exp.Tuple) or len(row.expressions) != len(columns):
                raise not_portable("a row has more or fewer values than columns are listed")
            _expect_only(row, "expressions")
            rows.append(tuple(self._value(one) for one in row.expressions))
        return Insert(table, columns, tuple(rows))

    def update(self, tree: exp.Expr) -> Update:
        _expect_only(tree, "this", "expressions", "where")
        table = self._named(tree.this)
        becomes = []
        for one in tree.expressions:
            if not isinstance(one, exp.EQ) or not isinstance(one.this, exp.Column):
                raise not_portable("it sets something else than single columns")
            _expect_only(one, "this", "expression")
            # PostgreSQL takes no table in front of a column that is set.
            _expect_only(one.this, "this")
            becomes.append((_folded(one.this.this), self._value(one.expression)))
        return Update(table, tuple(becomes), self._where(tree))

    def delete(self, tree: exp.Expr) -> Delete:
        _expect_only(tree, "this", "where")
        table = self._named(tree.this)
        return Delete(table, self._where(tree))

    def truncate(self, tree: exp.Expr) -> Delete:
        _expect_only(tree, "expressions")
        if len(tree.expressions) != 1:
            raise not_portable("it names more than one table")
        return Delete(self._named(tree.expressions[0]), is_counted=False)

    def _from(self, tree: exp.Expr | None) -> TableName:
        if not isinstance(tree, exp.From):
            raise not_portable("it names no table")
        _expect_only(tree, "this")
        return self._named(tree.this)

    def _named(self, tree: object) -> TableName:
        if not isinstance(tree, exp.Table):
            raise not_portable("it names something else than one table")
        _expect_only(tree, "this", "db")
        schema = tree.args.get("db")
        name = TableName(_folded(schema) if schema is not None else self._schema, _folded(tree.this))
        self._table = name.table
        return name

    def _where(self, tree: exp.Expr) -> Condition | None:
        where = tree.args.get("where")
        if where is None:
            return None
        _expect_only(where, "this")
        return self._condition(where.this)

    def _shown(self, tree: exp.Expr) -> Shown:
        label = None
        if isinstance(tree, exp.Alias):
            _expect_only(tree, "this", "alias")
            label, tree = _folded(tree.args.get("alias")), tree.this
        if isinstance(tree, exp.Column):
            name = self._column(tree)
            return Shown("", name, label or name.column)
        function = _FUNCTIONS.get(type(tree))
        if function is None:
            raise not_portable("it shows something else than columns, COUNT, SUM, MIN and MAX")
        _expect_only(tree, "this", "big_int")
        if function == "COUNT" and isinstance(tree.this, exp.Star):
            _expect_only(tree.this)
            return Shown(function, None, label or "count")
        return Shown(function, self._column(tree.this), label or function.lower())

    def _condition(self, tree: exp.Expr) -> Condition:
        with self._deeper():
            return self._condition_of(tree)

    def _condition_of(self, tree: exp.Expr) -> Condition:
        if isinstance(tree, exp.Paren):
            _expect_only(tree, "this")
            return self._condition(tree.this)
        if isinstance(tree, exp.Not):
            _expect_only(tree, "this")
            return Not(self._condition(tree.this))
        if isinstance(tree, exp.And | exp.Or):
            _expect_only(tree, "this", "expression")
            word = "AND" if isinstance(tree, exp.And) else "OR"
            return Joined(word, self._condition(tree.this), self._condition(tree.expression))
        if sign := _COMPARED.get(type(tree)):
            _expect_only(tree, "this", "expression")
            return Compared(sign, self._value(tree.this), self._value(tree.expression))
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
            _expect_only(tree, "this", "expression", "negate")
            found = IsNull(self._column(tree.this))
            return Not(found) if tree.args.get("negate") else found
        if isinstance(tree, exp.In):
            _expect_only(tree, "this", "expressions")
            return Among(self._value(tree.this), tuple(self._value(one) for one in tree.expressions))
        if isinstance(tree, exp.Between):
            _expect_only(tree, "this", "low", "high")
            value = self._value(tree.this)
            low, high = (self._value(tree.args[end]) for end in ("low", "high"))
            return Joined("AND", Compared(">=", value, low), Compared("<=", value, high))
        if isinstance(tree, exp.Column):
            return Holds(self._column(tree))
        raise not_portable(f"{type(tree).__name__} is no condition that every database knows")

    def _value(self, tree: exp.Expr) -> Value:
        with self._deeper():
            return self._value_of(tree)

    def _value_of(self, tree: exp.Expr) -> Value:
        if isinstance(tree, exp.Paren):
            _expect_only(tree, "this")
            return self._value(tree.this)
        if isinstance(tree, exp.Column):
            return self._column(tree)
        if isinstance(tree, exp.Null):
            return Null()
        if isinstance(tree, exp.Boolean):
            return Truth(bool(tree.this))
        if isinstance(tree, exp.Neg) and isinstance(tree.this, exp.Literal):
            number = self._value(tree.this)
            if isinstance(number, Number):
                return Number(f"-{number.digits}")
        if isinstance(tree, exp.Literal):
            if tree.is_string:
                return Text(str(tree.this))
            if _NUMBER.fullmatch(str(tree.this)):
                return Number(str(tree.this))
        if sign := _ARITHMETIC.get(type(tree)):
            _expect_only(tree, "this", "expression")
            return Arithmetic(sign, self._value(tree.this), self._value(tree.expression))
        raise not_portable(f"{type(tree).__name__} is no value that every database knows")

    def _column(self, tree: object) -> Name:
        if not isinstance(tree, exp.Column):
            raise not_portable("a column is expected where something else stands")
        _expect_only(tree, "this", "table")
        of = tree.args.get("table")
        if of is not None and _folded(of) != self._table:
            raise not_portable(f"it names a column of {_folded(of)}")
        return Name(_folded(tree.this))

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > _MOST_DEEP:
            raise not_portable("it has too many parts within others")
        yield
        self._depth -= 1


def _expect_only(tree: exp.Expr, *parts: str) -> None:
    """See that a part of the statement has no other parts than these."""
    for name, part in tree.args.items():
        if part and name not in parts:
            raise not_portable(f"{type(tree).__name__} has more than every database knows: {name}")


def _folded(identifier: object) -> str:
    if not isinstance(identifier, exp.Identifier):
        raise not_portable("a name is expected where something else stands")
    text = str(identifier.this)
    if identifier.args.get("quoted"):
        return text
    if not text.isascii():
        raise not_portable(f"whether {text} is folded to small letters is a matter of the server; quote it")
    if text.lower() in RESERVED:
        # PostgreSQL takes `WHERE user = 'a'` for its role, and `SET a = default` for no column.
        raise not_portable(f"{text} is a word of PostgreSQL; if it is a name, quote it")
    return text.lower()
