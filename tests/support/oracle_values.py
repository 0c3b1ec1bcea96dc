"""What a server of Oracle would give of values of each type, and the texts that the log has of them.

By the names of `oracle.COLUMNS`: the type in the log, and pairs of what an image has and the canonical text.
"""

from __future__ import annotations

from collections.abc import Mapping

_NINES = "9" * 38
_FORTY = "1234567890" * 4
_PI = "3.1415926535897932384626433832795028842"
VALUES: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "NUMBER": (
        "numeric",
        (
            ("0", "0"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("-12.25", "-12.25"),
            ("1.1E+125", "11" + "0" * 124),
            ("-9.9E-130", "-0." + "0" * 129 + "99"),
            ("~", "Infinity"),
            ("-~", "-Infinity"),
            (_NINES, _NINES),
        ),
    ),
    "NUMBER(*,0)": (
        "numeric",
        ((_FORTY, _FORTY),),
    ),
    "NUMBER(4)": ("smallint", (("-9999", "-9999"), ("0", "0"))),
    "NUMBER(9)": ("integer", (("999999999", "999999999"),)),
    "NUMBER(18)": ("bigint", (("-" + "9" * 18, "-" + "9" * 18),)),
    "NUMBER(38)": ("numeric(38,0)", ((_NINES, _NINES), ("-1", "-1"))),
    "NUMBER(10,2)": (
        "numeric(10,2)",
        (("1.5", "1.50"), ("0", "0.00"), ("-.05", "-0.05"), ("12345678.91", "12345678.91")),
    ),
    "NUMBER(2,5)": ("numeric(5,5)", ((".00099", "0.00099"), ("0", "0.00000"))),
    "NUMBER(5,-2)": ("integer", (("1234500", "1234500"),)),
    "FLOAT(126)": (
        "numeric",
        ((_PI, _PI),),
    ),
    "BINARY_DOUBLE": (
        "double precision",
        (
            ("3FB999999999999A", "0.1"),
            ("8000000000000000", "-0"),
            ("7FF8000000000000", "NaN"),
            ("7FF0000000000000", "Infinity"),
            ("FFF0000000000000", "-Infinity"),
            ("0000000000000001", "5e-324"),
            ("7FEFFFFFFFFFFFFF", "1.7976931348623157e+308"),
            ("4480F0CF064DD592", "1e+22"),
        ),
    ),
    "BINARY_FLOAT": (
        "real",
        (("3DCCCCCD", "0.1"), ("00000001", "1e-45"), ("7F7FFFFF", "3.4028235e+38"), ("80000000", "-0")),
    ),
    "VARCHAR2(40 CHAR)": ("character varying(40)", (("ab  ", "ab  "), ("äöü € 😀", "äöü € 😀"))),
    "VARCHAR2(40 BYTE)": ("character varying(40)", (("x\ty", "x\ty"),)),
    "VARCHAR2(32767 BYTE)": ("character varying(32767)", (("y" * 32767, "y" * 32767),)),
    "NVARCHAR2(40)": ("character varying(40)", (("漢字", "漢字"),)),
    "NVARCHAR2(16383)": ("character varying(16383)", (("é", "é"),)),
    "CHAR(5 CHAR)": ("character(5)", (("ab   ", "ab   "), ("     ", "     "))),
    "CHAR(5 BYTE)": ("character varying(5)", (("ä   ", "ä   "),)),
    "NCHAR(5)": ("character varying(5)", (("😀   ", "😀   "),)),
    "DATE": (
        "timestamp without time zone",
        (
            (" 2024-02-29 23:59:59", "2024-02-29 23:59:59"),
            ("2024-02-29 23:59:59.000000000", "2024-02-29 23:59:59"),
            ("-0044-03-15 00:00:00", "0044-03-15 00:00:00 BC"),
            ("-4712-01-01 00:00:00", "4712-01-01 00:00:00 BC"),
            ("9999-12-31 23:59:59", "9999-12-31 23:59:59"),
        ),
    ),
    "TIMESTAMP(6)": ("timestamp without time zone", (("2024-01-01 00:00:00.100000000", "2024-01-01 00:00:00.1"),)),
    "TIMESTAMP(9)": ("text", (("2024-01-01 00:00:00.123456789", "2024-01-01 00:00:00.123456789"),)),
    "TIMESTAMP(6) WITH TIME ZONE": (
        "timestamp with time zone",
        (
            ("2024-10-27 00:30:00.000001000", "2024-10-27 00:30:00.000001+00"),
            ("-0044-03-15 12:00:00.000000000", "0044-03-15 12:00:00+00 BC"),
        ),
    ),
    "TIMESTAMP(9) WITH TIME ZONE": ("text", (("2024-01-01 00:00:00.000000001", "2024-01-01 00:00:00.000000001+00"),)),
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": (
        "timestamp with time zone",
        (("2024-01-01 00:00:00.5", "2024-01-01 00:00:00.5+00"),),
    ),
    "INTERVAL YEAR(2) TO MONTH": (
        "interval",
        (
            ("0", "00:00:00"),
            ("14", "1 year 2 mons"),
            ("-14", "-1 years -2 mons"),
            ("1", "1 mon"),
            ("-1199", "-99 years -11 mons"),
        ),
    ),
    "INTERVAL DAY(2) TO SECOND(6)": (
        "interval",
        (
            ("0 0", "00:00:00"),
            ("1 3661.5", "1 day 01:01:01.5"),
            ("-99 -86399.999999", "-99 days -23:59:59.999999"),
            ("0 -.000001", "-00:00:00.000001"),
            ("-1 0", "-1 days"),
        ),
    ),
    "INTERVAL DAY(9) TO SECOND(9)": ("text", (("999999999 .123456789", "999999999 days 00:00:00.123456789"),)),
    "RAW(16)": ("bytea", (("\\x00ff", "\\x00ff"),)),
    "RAW(32767)": ("bytea", (("\\x", "\\x"),)),
    "LONG": ("text", (("long", "long"),)),
    "LONG RAW": ("bytea", (("\\x01", "\\x01"),)),
    "CLOB": ("text", (("", ""), ("a]]>b\r\x01", "a]]>b\r\x01"))),
    "NCLOB": ("text", (("漢", "漢"),)),
    "BLOB": ("bytea", (("\\x", "\\x"), ("\\xdeadbeef", "\\xdeadbeef"))),
    "XMLTYPE": ("text", (('<a b="1"/>', '<a b="1"/>'),)),
    "JSON": ("json", (('{"a":[1,null]}', '{"a":[1,null]}'),)),
    "BOOLEAN": ("boolean", (("t", "t"), ("f", "f"))),
    "ROWID": ("text", (("AAAR3sAAEAAAACXAAA", "AAAR3sAAEAAAACXAAA"),)),
    "UROWID": ("text", (("*BAMAJMsCwQL+", "*BAMAJMsCwQL+"),)),
}
