"""The text of an expression -> what it says, by an SQL parser; the only module here that knows which parser.

The parser takes much that is no part of the language, and drops some of what it takes. So each kind of its nodes that
may stand here is listed with what it may hold, and all else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp, parse_one

from sluice.expressions.casts import sized_type
from sluice.expressions.tree import (
    BooleanLiteral,
    Call,
    Case,
    Cast,
    ColumnReference,
    Fault,
    Image,
    Literal,
    Node,
    NumberLiteral,
    expect_bounded,
)
from sluice.model.limits import MOST_SIGNS

_COMPARING: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_TWO: dict[type[exp.Expr], str] = {
    **_COMPARING,
    exp.And: "and",
    exp.Or: "or",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.NullSafeNEQ: "is distinct from",
}
_ONE: dict[type[exp.Expr], str] = {
    exp.Not: "not",
    exp.Neg: "negative",
    exp.Lower: "lower",
    exp.Upper: "upper",
    exp.Length: "length",
    exp.Abs: "abs",
}
_TRIMS = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}
_TYPES = {
    "SMALLINT": "smallint",
    "INT": "integer",
    "BIGINT": "bigint",
    "DECIMAL": "numeric",
    "DOUBLE": "double precision",
    "TEXT": "text",
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp without time zone",
    "TIMESTAMPTZ": "timestamp with time zone",
}
_SIZE = re.compile("[0-9]{1,9}")
# Those whose values may be cut to a size.
_SIZED = {"DECIMAL": "numeric", "VARCHAR": "character varying"}
# What the parser notes beside a node and what changes nothing of its meaning.
_NOTES = {"safe", "typed", "coalesce", "nested"}


def read(text: str) -> Node:
    """Parse an expression.

    Raises:
        Fault: it is no expression, one with something that the language has not, or one that would cost too much.
    """
    if len(text) > MOST_SIGNS:
        raise Fault(f"it is too long: {len(text)} signs, of at most {MOST_SIGNS}")
    try:
        text.encode()
        node = _node(_parse(text))
        expect_bounded(node)
    except UnicodeEncodeError:
        raise Fault("it has a character that is none") from None
    except RecursionError:
        raise Fault("it is nested too deeply") from None
    return node


def _parse(text: str) -> exp.Expr:
    try:
        return parse_one(text, read="postgres", into=exp.Condition)
    except RecursionError:
        raise
    except Exception:
        # It stumbles over some texts with errors of other kinds than its own.
        raise Fault(f"{text!r} is no expression that can be read") from None


def _node(tree: exp.Expr) -> Node:
    kind = type(tree)
    if kind in _TWO:
        return _two(tree)
    if kind in _ONE:
        return Call(_ONE[kind], (_node(_only(tree, "this")["this"]),))
    reading = _READERS.get(kind)
    if reading is None:
        raise Fault(f"{tree.sql('postgres')} is not part of the language")
    return reading(tree)


def _only(tree: exp.Expr, *names: str) -> dict[str, exp.Expr]:
    """The arguments of a node; a Fault if it has others than these."""
    given = {name: part for name, part in tree.args.items() if part not in (None, False, []) and name not in _NOTES}
    if not given.keys() <= set(names):
        raise Fault(f"{tree.sql('postgres')} is not part of the language")
    return given


def _two(tree: exp.Expr) -> Node:
    name = _TWO[type(tree)]
    _only(tree, "this", "expression")
    if isinstance(tree, (exp.And, exp.Or)):
        return Call(name, tuple(_node(part) for part in tree.flatten()))
    sides = (tree.this, tree.expression)
    if type(tree) in _COMPARING and any(isinstance(side, (*_COMPARING, exp.Not)) for side in sides):
        raise Fault(f"{tree.sql('postgres')} compares what is a comparison: put that into parentheses")
    return Call(name, tuple(_node(side) for side in sides))


def _is(tree: exp.Expr) -> Node:
    parts = _only(tree, "this", "expression", "negate")
    what = parts["expression"]
    if isinstance(what, exp.Null):
        name = "is null"
    elif isinstance(what, exp.Boolean):
        name = "is true" if what.this else "is false"
    else:
        raise Fault(f"{tree.sql('postgres')} is not part of the language")
    return _unless("negate" in parts, Call(name, (_node(parts["this"]),)))


def _like(tree: exp.Expr) -> Node:
    parts = _only(tree, "this", "expression", "negate")
    name = "ilike" if isinstance(tree, exp.ILike) else "like"
    return _unless("negate" in parts, Call(name, (_node(parts["this"]), _node(parts["expression"]))))


def _in(tree: exp.Expr) -> Node:
    _only(tree, "this", "expressions")
    if not tree.expressions:
        raise Fault("IN () holds nothing")
    tested = _node(tree.this)
    tests = tuple(Call("=", (tested, _node(option))) for option in tree.expressions)
    return Call("or", tests) if len(tests) > 1 else tests[0]


def _between(tree: exp.Expr) -> Node:
    parts = _only(tree, "this", "low", "high")
    tested = _node(parts["this"])
    return Call("and", (Call(">=", (tested, _node(parts["low"]))), Call("<=", (tested, _node(parts["high"])))))


def _case(tree: exp.Expr) -> Node:
    parts = _only(tree, "this", "ifs", "default")
    judged = _node(parts["this"]) if "this" in parts else None
    branches = []
    for branch in tree.args["ifs"]:
        given = _only(branch, "this", "true")
        met = _node(given["this"])
        branches.append((Call("=", (judged, met)) if judged else met, _node(given["true"])))
    return Case(tuple(branches), _node(parts["default"]) if "default" in parts else Literal(None))


def _nullif(tree: exp.Expr) -> Node:
    parts = _only(tree, "this", "expression")
    value = _node(parts["this"])
    return Case(((Call("=", (value, _node(parts["expression"]))), Literal(None)),), value)


def _cast(tree: exp.Expr) -> Node:
    parts = _only(tree, "this", "to")
    to = parts["to"]
    kind = to.this.name if isinstance(to.this, exp.DType) else ""
    name, sizes = _TYPES.get(kind), [size.name for size in to.expressions]
    if name and sizes and kind in _SIZED and all(_SIZE.fullmatch(size) for size in sizes):
        name = sized_type(_SIZED[kind], *map(int, sizes))
    elif name is None or sizes:
        raise Fault(
            f"nothing can be cast to {to.sql('postgres')} here; to {', '.join(sorted(set(_TYPES.values())))} it can"
        )
    return Cast(_node(parts["this"]), name)


def _column(tree: exp.Expr) -> Node:
    parts = _only(tree, "this", "table")
    if not isinstance(tree.this, exp.Identifier):
        raise Fault(f"{tree.sql('postgres')} is not part of the language")
    image = _fold(parts["table"]) if "table" in parts else Image.ROW.value
    if "table" in parts and image not in (Image.NEW, Image.OLD):
        raise Fault(f"{tree.sql('postgres')}: a column stands alone, or after `new.` or `old.`")
    return ColumnReference(_fold(tree.this), Image(image))


def _fold(identifier: exp.Expr) -> str:
    """The name that it means: letters outside of ASCII are not folded, as in a database in UTF8."""
    name = str(identifier.this)
    return name if identifier.args.get("quoted") else "".join(sign.lower() if sign.isascii() else sign for sign in name)


def _unless(negated: bool, node: Node) -> Node:
    return Call("not", (node,)) if negated else node


def _function_call(name: str, *parts: str) -> Callable[[exp.Expr], Node]:
    """A function with arguments in this order, of which the last may be missing."""

    def convert(tree: exp.Expr) -> Node:
        parts_by_name = _only(tree, *parts, "expressions")
        given = [parts_by_name[part] for part in parts if part in parts_by_name] + list(tree.expressions)
        return Call(name, tuple(_node(argument) for argument in given))

    return convert


def _trim(tree: exp.Expr) -> Node:
    parts = _only(tree, "this", "expression", "position")
    given = [parts[part] for part in ("this", "expression") if part in parts]
    return Call(_TRIMS[str(parts.get("position", ""))], tuple(_node(argument) for argument in given))


def _literal(tree: exp.Expr) -> Node:
    return Literal(str(tree.this)) if tree.is_string else NumberLiteral(str(tree.this))


def _unknown(tree: exp.Expr) -> Node:
    raise Fault(f"there is no function {tree.name}")


_READERS: dict[type[exp.Expr], Callable[[exp.Expr], Node]] = {
    exp.Paren: lambda tree: _node(_only(tree, "this")["this"]),
    exp.Literal: _literal,
    exp.Null: lambda tree: Literal(None),
    exp.Boolean: lambda tree: BooleanLiteral(bool(tree.this)),
    exp.Column: _column,
    exp.Is: _is,
    exp.Like: _like,
    exp.ILike: _like,
    exp.In: _in,
    exp.Between: _between,
    exp.Case: _case,
    exp.Nullif: _nullif,
    exp.Cast: _cast,
    exp.NullSafeEQ: lambda tree: Call("not", (Call("is distinct from", (_node(tree.this), _node(tree.expression))),)),
    exp.Trim: _trim,
    exp.Substring: _function_call("substr", "this", "start", "length"),
    exp.Round: _function_call("round", "this", "decimals"),
    exp.Concat: _function_call("concat"),
    exp.Coalesce: _function_call("coalesce", "this"),
    exp.Anonymous: _unknown,
}
