"""Every type of PostgreSQL with the values at its edges, as the literals that a session types in.

Source: PostgreSQL manual, chapter "Data Types"; for each type its smallest, largest, special and oddest values.
"""

from __future__ import annotations

DIGITS = "1234567890" * 50
CONTROL = "".join(map(chr, [*range(1, 32), 127, 0x85, 0xA0, 0x2028, 0xFEFF, 0xFFFE, 0xFFFF]))
MARKUP = '<a b="c">\'&amp;\' ]]> <![CDATA[ {x} %s \\x \\N \\. , ; ("\\",) \r\n\t end'

Values = dict[str, list[str]]

NUMBERS: Values = {
    "smallint": ["-32768", "0", "32767"],
    "integer": ["-2147483648", "0", "2147483647"],
    "bigint": ["-9223372036854775808", "0", "9223372036854775807"],
    "numeric": ["NaN", "Infinity", "-Infinity", "0", "0.000", f"{DIGITS}{DIGITS}", f"-0.{DIGITS}{DIGITS}", "1e131071"],
    "numeric(1000,500)": [f"{DIGITS}.{DIGITS}", f"-{DIGITS}.{DIGITS}", "NaN", "0"],
    "numeric(3,-2)": ["12300", "-99900"],
    "real": ["NaN", "Infinity", "-Infinity", "0", "1e-45", "3.4028235e38", "0.1", "16777217"],
    "double precision": ["NaN", "-Infinity", "0", "5e-324", "1.7976931348623157e308", "0.1", "1e22", "-1.5"],
    "money": ["-92233720368547758.08", "92233720368547758.07", "0"],
    "oid": ["0", "4294967295"],
    "boolean": ["true", "false"],
}
TEXTS: Values = {
    "text": [
        "",
        " ",
        "\\N",
        "\\.",
        "NULL",
        "null",
        '"',
        "'",
        CONTROL,
        MARKUP,
        "a\\b\\\\c",
        "\ufeffmark",
        "é ﷽ 😀 \U0010ffff",
    ],
    "character varying(80)": ["", "  two  ", MARKUP, CONTROL],
    "character(5)": ["", "ab", '", \\', "äöüß€"],
    '"char"': ["", "x", "\\377", "\\001", ","],
    "name": ["pg_class", 'odd "name", {}'],
    "bytea": ["\\x", "\\x00", "\\x" + bytes(range(256)).hex(), "\\x5c785c5c"],
    "uuid": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "bit(7)": ["1010101", "0000000"],
    "bit varying": ["", "1", "01" * 100],
    "refcursor": ["a cursor", ""],
}
TIMES: Values = {
    "date": ["4713-01-01 BC", "-infinity", "infinity", "0001-12-31 BC", "2024-02-29", "5874897-12-31"],
    "time": ["00:00:00", "23:59:59.999999", "24:00:00"],
    "time(3)": ["12:34:56.789"],
    "time with time zone": ["00:00:00+15:59:59", "24:00:00-15:59:59", "12:00:00.000001+05:30"],
    "timestamp": ["4713-01-01 00:00:00 BC", "infinity", "-infinity", "0044-03-15 12:00:00.000001 BC",
                  "294276-12-31 23:59:59.999999", "2024-02-03 04:05:06.1"],
    "timestamp with time zone": ["4713-01-01 00:00:00+00 BC", "infinity", "-infinity",
                                 "0044-03-15 12:00:00.000001+00 BC",
                                 "294276-12-31 23:59:59.999999+00", "2024-10-27 02:30:00+02", "2024-10-27 02:30:00+01"],
    "interval": ["infinity", "-infinity", "178000000 years", "-178000000 years",
                 "-1 year -1 mon +1 day -00:00:00.000001",
                 "1 mon -1 days 25:00:00", "0", "-2562047788:00:54.775807", "P-1Y2M-3DT-4H5M-6.7S"],
    "interval day to second(2)": ["3 days 04:05:06.78"],
}  # fmt: skip
TREES: Values = {
    "json": ["null", '"null"', ' { "a" : 1,\n\t"a":2 } ', '"\\u0041\\\\ <&> ]]>"', "1e400", "1.10"],
    "jsonb": ["null", '{"b": [1.10, 1e400, null, {}], "": "\\\\ \\" <&> ]]>"}', "[]", '"\\u00e9"'],
    "jsonpath": ['$."a b"[*] ? (@.x > 1.0 && @.y like_regex "^a\\\\b")', "strict $"],
    "tsvector": ["", "'a':1A,2B 'it''s':3 'back\\\\\\\\slash' 'sp ace'", "x:16383D"],
    "tsquery": ["", "'a':*AB & ( 'b c' | !'d' ) <3> 'it''s'"],
}
PLACES: Values = {
    "inet": ["0.0.0.0/0", "255.255.255.255", "10.1.2.3/8", "::/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
             "::ffff:1.2.3.4/96"],
    "cidr": ["10.0.0.0/8", "2001:db8::/32"],
    "macaddr": ["00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"],
    "macaddr8": ["08:00:2b:01:02:03:04:05"],
    "point": ["(0,-0)", "(1e300,-1e-300)", "(NaN,Infinity)"],
    "line": ["{1,-1,0.1}"],
    "lseg": ["[(0,0),(1,0.1)]"],
    "box": ["(2,2),(1,1)"],
    "path": ["[(0,0),(1,1)]", "((0,0),(1,1),(2,0))"],
    "polygon": ["((0,0),(1,1),(2,0))"],
    "circle": ["<(0.1,-0),2>"],
    "pg_lsn": ["0/0", "FFFFFFFF/FFFFFFFF"],
    "pg_snapshot": ["10:20:10,14,15"],
    "xid": ["0", "4294967295"],
    "xid8": ["18446744073709551615"],
    "tid": ["(4294967295,65535)"],
    "regclass": ["pg_class", "987654"],
    "regtype[]": ["{integer,text[]}"],
    "regprocedure": ["now()"],
    "aclitem": ["=r/postgres"],
}  # fmt: skip
SETS: Values = {
    "integer[]": ["{}", "{NULL}", "[-1:0][3:4]={{1,2},{3,NULL}}", "{{{1},{2}},{{3},{4}}}"],
    "text[]": ["{}", '{"",NULL,"NULL","null"," "}', '{"a,b","{c}","\\"\\\\","é\n\t"}', '{{"<&>","]]>"},{"(",")"}}'],
    "bytea[]": ['{"\\\\x00ff","\\\\x",NULL}'],
    "numeric(5,2)[]": ["{1.10,NaN}"],
    "timestamp with time zone[]": ['{infinity,"0044-03-15 12:00:00+00 BC"}'],
    "json[]": ['{"{\\"a\\": [1, \\"}\\"]}",null}'],
    "point[]": ['{"(1,2)","(3,4)"}'],
    "box[]": ["{(2,2),(1,1);(4,4),(3,3)}"],
    "int4range": ["empty", "(,)", "[-2147483648,2147483647)", "[1,2)"],
    "numrange": ["[NaN,]", "(-Infinity,1.10]", "empty"],
    "tsrange": ['["0044-03-15 12:00:00 BC",infinity]', "(,)"],
    "tstzrange": ['["2024-01-01 00:00:00+00","2024-01-02 00:00:00+00")'],
    "daterange": ["[-infinity,infinity]"],
    "int8multirange": ["{}", "{[1,3),[5,7),[9,)}"],
    "datemultirange": ["{[2024-01-01,2024-02-01),[2024-03-01,infinity)}"],
    "int4range[]": ['{"[1,3)",empty,NULL}'],
}
GROUPS: dict[str, Values] = {
    "numbers": NUMBERS,
    "texts": TEXTS,
    "times": TIMES,
    "trees": TREES,
    "places": PLACES,
    "sets": SETS,
}
# What the manual gives no B-tree operator class.
UNORDERED = {"json", "jsonpath", "point", "line", "lseg", "box", "path", "polygon", "circle", "pg_snapshot", "xid",
             "aclitem", "json[]", "point[]", "box[]", "refcursor"}  # fmt: skip
