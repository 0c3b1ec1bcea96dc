"""Which logical type holds every value of a type of Oracle (R7), how a trigger writes its values into an image, how an
initial update reads them, and the canonical text of what either gives.

Source: SQL Language Reference, "Data Types"; PL/SQL Language Reference, "PL/SQL Data Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from sluice.vendors.oracle.catalog.columns import OracleColumn


class Form(StrEnum):
    """What stands for a value in an image, and where rows are read."""

    TEXT = "text"
    BYTES = "bytes"
    NUMBER = "number"
    BITS = "bits"
    MOMENT = "moment"
    MOMENT_IN_UTC = "moment in UTC"
    MONTHS = "months"
    SECONDS = "seconds"
    LONG = "long"
    LONG_RAW = "long raw"


@dataclass(frozen=True)
class Captured:
    """How values of one column are captured and read.

    Attributes:
        type: its name in the log.
        parameter: the type of the parameter that a trigger hands the value over in.
        literal: the piece of an image: `{name}` is the column's name as a literal, `{value}` its value, other places
            are functions among the DbResources; none of a LONG.
        is_long: the piece is a CLOB.
        read: the expression that a query selects.
        scale: of a NUMBER, the digits behind the point that its text has; None: those that it needs.
        dropped: the part of a value that its text does not have, in words.
        empty: the text of a value of length 0 that is not NULL; None if there is no such value. A LONG of that length
            is NULL, and neither XML nor JSON is as short.
    """

    type: str
    parameter: str
    form: Form
    literal: str
    read: str
    is_long: bool = False
    scale: int | None = None
    dropped: str = ""
    empty: str | None = None


@dataclass(frozen=True)
class NotCaptured:
    """Why a column cannot be replicated."""

    why: str


# The most bytes of a text that is written in one piece.
_SHORT = 4000
_SHORT_RAW = 2000
_MOST_DIGITS = 38
_INTEGERS = ((4, "smallint"), (9, "integer"), (18, "bigint"))
_DATETIME = re.compile(r"TIMESTAMP\((\d)\)( WITH TIME ZONE| WITH LOCAL TIME ZONE)?")
_DAYS = re.compile(r"INTERVAL DAY\((\d)\) TO SECOND\((\d)\)")
_MONTHS = re.compile(r"INTERVAL YEAR\((\d)\) TO MONTH")
# What no other database's interval or timestamp keeps is a text there.
_MOST_FRACTION = 6
_SECOND = "SYYYY-MM-DD HH24:MI:SS"


def captured(column: OracleColumn) -> Captured | NotCaptured:
    """How a column is captured; or why it cannot be."""
    if column.type_owner is not None and column.type != "XMLTYPE":
        return NotCaptured(
            f"{column.declared} is an object type, a collection or a reference, which no other database reads"
        )
    if made := _TEXTS.get(column.type) or _OTHERS.get(column.type):
        return made(column)
    if found := _DATETIME.fullmatch(column.type):
        return _moment(int(found[1]), found[2])
    if found := _DAYS.fullmatch(column.type):
        name = "interval" if int(found[2]) <= _MOST_FRACTION else "text"
        return _expression(name, "DSINTERVAL_UNCONSTRAINED", Form.SECONDS, "{seconds_text}({value})")
    if _MONTHS.fullmatch(column.type):
        return _expression("interval", "YMINTERVAL_UNCONSTRAINED", Form.MONTHS, "{months_text}({value})")
    return NotCaptured(f"nothing is known of the type {column.declared}")


def _expression(
    name: str, parameter: str, form: Form, text: str, read: str | None = None, scale: int | None = None
) -> Captured:
    return Captured(name, parameter, form, f"{{col2xml}}({{name}}, {text})", read or text, scale=scale)


def _number(column: OracleColumn) -> Captured:
    name, scale = _number_type(column.precision, column.scale)
    read = "TO_CHAR({value}, 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')"
    return _expression(name, "NUMBER", Form.NUMBER, "{number_text}({value})", read, scale)


def _number_type(precision: int | None, scale: int | None) -> tuple[str, int | None]:
    """The narrowest type that takes every number. NUMBER(*,s) may have 39 or 40 digits."""
    if precision is None or scale is None:
        return "numeric", None
    if scale > 0:
        # Of NUMBER(2,5) the first three digits behind the point are zeros.
        return f"numeric({max(precision, scale)},{scale})", scale
    digits = precision - scale
    return next((name for most, name in _INTEGERS if digits <= most), f"numeric({digits},0)"), 0


def _float(column: OracleColumn) -> Captured:
    return _number(OracleColumn(column.name, "NUMBER"))


def _binary(name: str, parameter: str, function: str) -> Callable[[OracleColumn], Captured]:
    cast = f"RAWTOHEX(UTL_RAW.CAST_FROM_{parameter}({{value}}, 1))"
    return lambda column: _expression(name, parameter, Form.BITS, f"{{{function}}}({{value}})", cast)


def _char(column: OracleColumn) -> Captured:
    # Blanks fill it up to so many bytes, which are fewer characters if one of them has two: that no other CHAR does.
    name = f"character({column.chars})" if column.by_char else f"character varying({column.chars})"
    return _text(column, name, "CHAR", "{col2xml}({name}, {value})", "{clob2xml}({name}, TO_CLOB({value}))")


def _varchar(column: OracleColumn) -> Captured:
    name = f"character varying({column.chars})"
    return _text(column, name, "VARCHAR2", "{col2xml}({name}, {value})", "{clob2xml}({name}, TO_CLOB({value}))")


def _national(parameter: str) -> Callable[[OracleColumn], Captured]:
    # Its length counts a character beyond the first plane twice, so an NCHAR may be filled up with fewer blanks.
    return lambda column: _text(
        column,
        f"character varying({column.chars})",
        parameter,
        "{ncol2xml}({name}, {value})",
        "{nclob2xml}({name}, TO_NCLOB({value}))",
    )


def _text(column: OracleColumn, name: str, parameter: str, short: str, long: str) -> Captured:
    is_long = column.length > _SHORT
    return Captured(name, parameter, Form.TEXT, long if is_long else short, "{value}", is_long)


def _raw(column: OracleColumn) -> Captured:
    is_long = column.length > _SHORT_RAW
    literal = "{lob2xml}({name}, NULL, TO_BLOB({value}))" if is_long else "{raw2xml}({name}, {value})"
    return Captured("bytea", "RAW", Form.BYTES, literal, "{value}", is_long)


def _lob(
    name: str, parameter: str, form: Form, literal: str, read: str = "{value}", empty: str | None = None
) -> Callable[[OracleColumn], Captured]:
    return lambda column: Captured(name, parameter, form, literal, read, is_long=True, empty=empty)


def _moment(digits: int, zone: str | None) -> Captured:
    exact = digits <= _MOST_FRACTION
    format_ = f"'{_SECOND}.FF9'"
    if zone is None:
        name = "timestamp without time zone" if exact else "text"
        return _expression(
            name, "TIMESTAMP_UNCONSTRAINED", Form.MOMENT, "{moment_text}({value})", f"TO_CHAR({{value}}, {format_})"
        )
    parameter = "TIMESTAMP_TZ_UNCONSTRAINED" if zone == " WITH TIME ZONE" else "TIMESTAMP_LTZ_UNCONSTRAINED"
    moment = "SYS_EXTRACT_UTC({value})" if zone == " WITH TIME ZONE" else "SYS_EXTRACT_UTC({value} AT TIME ZONE 'UTC')"
    name = "timestamp with time zone" if exact else "text"
    made = _expression(
        name, parameter, Form.MOMENT_IN_UTC, f"{{moment_text}}({moment})", f"TO_CHAR({moment}, {format_})"
    )
    return replace(made, dropped="the time zone of each value") if zone == " WITH TIME ZONE" else made


def _date(column: OracleColumn) -> Captured:
    return _expression(
        "timestamp without time zone",
        "DATE",
        Form.MOMENT,
        "{moment_text}(CAST({value} AS TIMESTAMP))",
        f"TO_CHAR({{value}}, '{_SECOND}')",
    )


def _row_address(parameter: str) -> Callable[[OracleColumn], Captured]:
    return lambda column: _expression("text", parameter, Form.TEXT, "{value}", "CAST({value} AS VARCHAR2(4000))")


def _boolean(column: OracleColumn) -> Captured:
    text = "CASE WHEN {value} THEN 't' WHEN NOT {value} THEN 'f' END"
    return _expression("boolean", "BOOLEAN", Form.TEXT, text)


def _refused(why: str) -> Callable[[OracleColumn], NotCaptured]:
    return lambda column: NotCaptured(f"{column.declared}: {why}")


_TEXTS: dict[str, Callable[[OracleColumn], Captured | NotCaptured]] = {
    "CHAR": _char,
    "VARCHAR2": _varchar,
    "NCHAR": _national("NCHAR"),
    "NVARCHAR2": _national("NVARCHAR2"),
    "CLOB": _lob("text", "CLOB", Form.TEXT, "{clob2xml}({name}, {value})", empty=""),
    "NCLOB": _lob("text", "NCLOB", Form.TEXT, "{nclob2xml}({name}, {value})", empty=""),
    "XMLTYPE": _lob(
        "text",
        "XMLTYPE",
        Form.TEXT,
        "{clob2xml}({name}, CASE WHEN {value} IS NOT NULL THEN {value}.GETCLOBVAL() END)",
        "CASE WHEN {value} IS NOT NULL THEN XMLSERIALIZE(DOCUMENT {value} AS CLOB) END",
    ),
    "JSON": _lob(
        "json", "JSON", Form.TEXT, "{clob2xml}({name}, {json_text}({value}))", "JSON_SERIALIZE({value} RETURNING CLOB)"
    ),
}
_OTHERS: dict[str, Callable[[OracleColumn], Captured | NotCaptured]] = {
    "NUMBER": _number,
    "FLOAT": _float,
    "BINARY_DOUBLE": _binary("double precision", "BINARY_DOUBLE", "double_text"),
    "BINARY_FLOAT": _binary("real", "BINARY_FLOAT", "float_text"),
    "DATE": _date,
    "RAW": _raw,
    "BLOB": _lob("bytea", "BLOB", Form.BYTES, "{lob2xml}({name}, NULL, {value})", empty="\\x"),
    "ROWID": _row_address("ROWID"),
    "UROWID": _row_address("UROWID"),
    "BOOLEAN": _boolean,
    # No trigger can read them: the publisher does, from the row as it is by then.
    "LONG": lambda column: Captured("text", "", Form.LONG, "", "{value}", is_long=True),
    "LONG RAW": lambda column: Captured("bytea", "", Form.LONG_RAW, "", "{value}", is_long=True),
    "BFILE": _refused("its bytes are in a file of the server, and no statement that changes them is seen"),
    "VECTOR": _refused("no text gives every value of it back"),
}
