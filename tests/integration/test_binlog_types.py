"""Every type of a MariaDB or MySQL master, from its log and from a SELECT: the same canonical text, which arrives."""

from __future__ import annotations

import uuid
from contextlib import closing
from random import Random

import pytest
from support.binlog import MASTERS, left_out
from support.mariadb import MariaServer
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import SluiceError
from sluice.vendors.mariadb.server import MARIADB

pytestmark = [pytest.mark.postgres]

# By the type of a column: literals, with the canonical text of each; None: whatever a SELECT gives.
VALUES: dict[str, dict[str, str | None]] = {
    "tinyint": {"-128": "-128", "127": "127"},
    "tinyint unsigned": {"255": "255"},
    "smallint": {"-32768": "-32768"},
    "smallint unsigned": {"65535": "65535"},
    "mediumint": {"-8388608": "-8388608", "-1": "-1"},
    "mediumint unsigned": {"16777215": "16777215"},
    "int": {"-2147483648": "-2147483648"},
    "int(5) unsigned zerofill": {"5": "5", "4294967295": "4294967295"},
    "bigint": {"-9223372036854775808": "-9223372036854775808"},
    "bigint unsigned": {"18446744073709551615": "18446744073709551615"},
    "decimal(65,30)": {"-1.5": "-1." + "5".ljust(30, "0"), "0": "0." + "0" * 30, "9" * 35 + "." + "9" * 30: None},
    "decimal(9,0)": {"-123456789": "-123456789", "0": "0"},
    "decimal(7,2) zerofill": {"5": "5.00", "12345.6": "12345.60", "0": "0.00"},
    "decimal(65,0) zerofill": {"9" * 65: "9" * 65, "7": "7"},
    "decimal(4,4)": {"-0.0001": "-0.0001", "0.5": "0.5000"},
    "float": {"0.1": "0.1", "3.40282346e38": "3.4028235e+38", "16777217": "1.6777216e+07", "-1e-38": None},
    "double": {"0.1": "0.1", "5e-324": "5e-324", "1.7976931348623157e308": "1.7976931348623157e+308", "1e15": "1e+15"},
    "year": {"1901": "1901", "2155": "2155", "0": "0"},
    "bit(1)": {"b'1'": "1"},
    "bit(11)": {"b'101'": "00000000101"},
    "bit(64)": {"0xFFFFFFFFFFFFFFFE": "1" * 63 + "0"},
    "date": {"'1000-01-01'": "1000-01-01", "'9999-12-31'": "9999-12-31"},
    "time": {"'838:59:59'": "838:59:59", "'-838:59:59'": "-838:59:59", "'00:00:00'": "00:00:00"},
    "time(2)": {"'-00:00:01.25'": "-00:00:01.25", "'-00:00:00.01'": "-00:00:00.01", "'-01:00:00'": "-01:00:00"},
    "time(6)": {"'-23:59:59.999999'": "-23:59:59.999999", "'12:00:00.1'": "12:00:00.1"},
    "datetime": {"'2024-02-29 23:59:59'": "2024-02-29 23:59:59"},
    "datetime(6)": {"'9999-12-31 23:59:59.000001'": "9999-12-31 23:59:59.000001"},
    "datetime(3)": {"'2024-01-01 00:00:00.120'": "2024-01-01 00:00:00.12"},
    "timestamp(4) null": {"'2038-01-19 03:14:07.9999'": "2038-01-19 03:14:07.9999+00"},
    "char(5)": {"'ab  '": "ab", "''": ""},
    "char(200)": {f"'{'ü' * 200}'": "ü" * 200},
    "varchar(20)": {"'ab  '": "ab  ", r"'a\\tb\n\\N'": "a\\tb\n\\N", "'😀'": "😀"},
    "varchar(300) charset latin1": {"'é€ß'": "é€ß"},
    "varchar(9) charset koi8r": {"'Жук'": "Жук"},
    "varchar(9) charset ucs2": {"'Жé'": "Жé"},
    "varchar(9) collate utf8mb4_unicode_ci": {"'NULL'": "NULL"},
    "text": {"''": "", "repeat('x', 70)": "x" * 70},
    "longtext": {"repeat('ab', 40000)": "ab" * 40000},
    "json": {"""'{"a": [1.10, null]}'""": '{"a": [1.10, null]}'},
    "enum('a','ö','b c') charset latin1": {"'ö'": "ö", "'b c'": "b c"},
    "set('x','y','z')": {"'z,x'": "x,z", "''": ""},
    "binary(4)": {"'a'": "\\x61000000", "''": "\\x00000000", "x'00ff0000'": "\\x00ff0000"},
    "binary(16)": {"x'ff'": "\\xff" + "00" * 15},
    "varbinary(300)": {"x'00ff00'": "\\x00ff00", "''": "\\x"},
    "blob": {"''": "\\x", "x'0000'": "\\x0000"},
    "longblob": {"x'5c00'": "\\x5c00"},
    "uuid": {
        "'123e4567-e89b-12d3-a456-426614174000'": "123e4567-e89b-12d3-a456-426614174000",
        "'00000000-0000-0000-0000-000000000000'": "00000000-0000-0000-0000-000000000000",
    },
    "inet6": {"'::'": "::", "'::ffff:1.2.3.4'": "::ffff:1.2.3.4", "'1:0:2::'": None, "'0:1:0:1:0:1:0:1'": None},
    "inet4": {"'1.2.3.0'": "1.2.3.0"},
    "point": {"point(1, 2)": None},
    "int as (id * 2) stored": {"default": None},
    "int as (id * 3) virtual": {"default": None},
}
# Types of which MySQL has no such one, or another one.
OF_MARIADB = ("json", "uuid", "inet")
DOCUMENT = r"""json_object('a', cast('2024-01-02 03:04:05.5' as datetime(3)), 'b', time'-30:04:05',
    'c', date'2024-01-02', 'd', cast(-1.10 as decimal(40,30)), 'e', x'00ff', 'f', json_array(1, -1,
    18446744073709551615, 70000, -70000, null, true, false, 1e15, 0.1, -0.0, 1e-300), 'g', json_object(),
    'h', json_array(), 'i', "q\"\\\n\t\u0001 é 😀/", 'long', repeat('ü', 200), 'm', repeat(x'00ff', 60),
    'n', repeat(x'00', 57), 'o', repeat(x'00', 114))"""
OF_MYSQL: dict[str, dict[str, str | None]] = {
    "json": {
        """'{"b": 1, "aa": [1.10, null]}'""": '{"b": 1, "aa": [1.1, null]}',
        DOCUMENT: None,
        f"json_array(repeat('x', 70000), {DOCUMENT}, {DOCUMENT})": None,
        "cast('null' as json)": "null",
        "'[]'": "[]",
        "'-0.5'": "-0.5",
        "cast(time'838:59:59' as json)": '"838:59:59.000000"',
    },
    "geometry srid 4326": {"st_geomfromtext('point(1 2)', 4326)": None},
    "geometrycollection": {"st_geomfromtext('geometrycollection(point(1 2))')": None},
    "varchar(4) invisible": {"'seen'": "seen"},
    "varchar(20) charset ascii": {"'a'": "a"},
}
# Dates that only MariaDB has: they travel, and a slave that cannot hold them stops.
ZEROS = {
    "date": {"'0000-00-00'": "0000-00-00", "'2024-02-00'": "2024-02-00"},
    "datetime": {"'0000-00-00'": "0000-00-00 00:00:00"},
    "timestamp null": {"'0000-00-00'": "0000-00-00 00:00:00+00"},
}
_random = Random(7)
for _ in range(20):
    VALUES["uuid"][f"'{uuid.UUID(int=_random.getrandbits(128), version=1 + _ % 5)}'"] = None
    words = ":".join(f"{_random.choice([0, 0, 1, _random.getrandbits(16)]):x}" for _ in range(8))
    VALUES["inet6"][f"'{words}'"] = None


Values = dict[str, dict[str, str | None]]


def table(values: Values) -> str:
    columns = ", ".join(f"v{number} {kind}" for number, kind in enumerate(values))
    return f"CREATE TABLE t (id int PRIMARY KEY, {columns}) CHARACTER SET utf8mb4"


def values_of(server: MariaServer) -> Values:
    """Those of the types that a server has."""
    if server.kind is MARIADB:
        return VALUES
    return {kind: some for kind, some in VALUES.items() if not kind.startswith(OF_MARIADB)} | OF_MYSQL


def inserted(values: Values, base: int) -> list[str]:
    """Each row has the next value of each type, or NULL where there are no more."""
    rows = []
    # A column may be invisible.
    names = ", ".join(["id", *(f"v{number}" for number in range(len(values)))])
    for place in range(max(map(len, values.values())) + 1):
        literals = [
            list(some)[place] if place < len(some) else "default" if " as (" in kind else "NULL"
            for kind, some in values.items()
        ]
        rows.append(f"INSERT INTO t ({names}) VALUES ({base + place}, {', '.join(literals)})")
    return rows


def expect_texts(rows: dict[int, list[str | None]], values: Values) -> None:
    for place, (kind, some) in enumerate(values.items()):
        for number, (literal, text) in enumerate(some.items()):
            assert text is None or rows[number][place] == text, (kind, literal)


@pytest.mark.full(but=["mariadb"])
@MASTERS
def test_every_type_is_the_same_in_the_log_and_in_a_select_and_arrives(binlog, master_server):
    values = values_of(master_server)
    world, master = binlog(table(values), ["t"], slaves=("zurich",), update=False)
    master.execute(*inserted(values, 0), "UPDATE t SET v0 = v0 ORDER BY id", "DELETE FROM t WHERE id = 3")
    master.execute(*inserted(values, 0)[3:4])
    world.publish()
    log = world.log()
    rows = {int(one["new"][0]): one["new"][1:] for one in log if one["action"] == "I"}
    assert {one["action"] for one in log} >= {"I", "D"}
    assert [one["old"] for one in log if one["action"] == "D"] == [["3", *rows[3]]]
    expect_texts(rows, values)
    # An initial update reads by SELECT, and later rows come from the log; both are compared by SELECT.
    world.update()
    master.execute(*inserted(values, 100))
    assert world.verify(initial=True) == {"zurich": 0}
    found = world.reader("zurich").execute("SELECT * FROM public.t ORDER BY id").fetchall()
    assert len(found) == 2 * len(rows)
    half = len(rows)
    computed = [place + 1 for place, kind in enumerate(values) if " as (" in kind]
    for one, other in zip(found[:half], found[half:], strict=True):
        for place in range(1, len(one)):
            assert place in computed or one[place] == other[place], (list(values)[place - 1], one, other)


def test_zero_dates_are_in_the_log_as_they_are(binlog):
    world, master = binlog(table(ZEROS), ["t"], slaves=("zurich",), update=False)
    master.execute(*inserted(ZEROS, 0), mode="")
    world.publish()
    rows = {int(one["new"][0]): one["new"][1:] for one in world.log()}
    expect_texts(rows, ZEROS)


@pytest.mark.full(but=["small"])
@pytest.mark.parametrize("most", [1 << 17, 1 << 24], ids=["small", "as usual"])
def test_a_value_longer_than_half_of_a_packet_of_the_server_arrives_and_is_compared(binlog, maria_server, most):
    """R7: a function of the server whose result would be longer than `max_allowed_packet` gives NULL."""
    large = f"repeat(x'ff00', {most * 9 // 32})"
    world, master = binlog("CREATE TABLE t (id int PRIMARY KEY, v longblob)", ["t"], slaves=("zurich",), update=False)
    with maria_server.most_allowed(most):
        ((length, digest, half),) = master.execute(
            f"INSERT INTO t VALUES (1, {large}), (2, x'01')",
            "SELECT LENGTH(v), SHA2(v, 256), HEX(v) FROM t WHERE id = 1",
        )
        assert (length, half) == (most * 9 // 16, None)
        world.update()
        master.execute(f"INSERT INTO t VALUES (3, {large})")
        assert world.verify() == {"zurich": 0}
        reader = world.reader("zurich")
        arrived = "SELECT length(v), encode(sha256(v), 'hex') FROM public.t WHERE id IN (1, 3)"
        assert reader.execute(arrived).fetchall() == [(length, digest)] * 2
        reader.execute("UPDATE public.t SET v = NULL WHERE id = 1")
        with pytest.raises(SluiceError, match="SLC-090"):
            world.verify()


def test_names_that_are_no_texts_concern_nobody_else_and_none_is_cut(binlog, maria_server):
    whole = "v" * 63
    ddl = f"CREATE TABLE {whole} (id int PRIMARY KEY);\nCREATE TABLE odd (id int PRIMARY KEY)"
    world, master = binlog(ddl, ["*"], slaves=("zurich",))
    other = maria_server.create_account()
    half = b"\xed\xa0\x80"
    with closing(maria_server.session()) as session, session.cursor() as cursor:
        for one in (
            f"USE {other.database}".encode(),
            b"CREATE TABLE `x%b` (`%b` int, e enum('%b', 'a'))" % (half, half, half),
            b"INSERT INTO `x%b` VALUES (1, 'a')" % half,
            # Of these the log has types of their own.
            b"CREATE TABLE packed (v varchar(9) COMPRESSED, w varchar(9) CHARACTER SET ascii, x text COMPRESSED)",
            b"INSERT INTO packed VALUES ('a', 'b', 'c')",
            b"CREATE TABLE slow (a int) ENGINE MyISAM",
            b"BEGIN",
            b"INSERT INTO `x%b` VALUES (2, 'a')" % half,
            b"SAVEPOINT `%b`" % half,
            b"INSERT INTO slow VALUES (1)",
            b"ROLLBACK TO `%b`" % half,
            b"COMMIT",
            f"USE {master.name}".encode(),
            b"CREATE TABLE `x%b` (id int)" % half,
            b"INSERT INTO `x%b` VALUES (1)" % half,
            b"INSERT INTO odd VALUES (1)",
            b"ALTER TABLE odd ADD `%b` int" % half,
            b"INSERT INTO odd VALUES (2, 2)",
            f"INSERT INTO {whole} VALUES (1)".encode(),
        ):
            cursor.execute(one)
    world.catch_up()
    assert left_out(world).keys() == {"odd"}
    assert world.rows("zurich", f"public.{whole}") == {('{"id":1}',): 1}
    with pytest.raises(SluiceError, match=r"SLC-477: \S+odd cannot be read"):
        bootstrap(world.context, SOURCE)
    # PostgreSQL would take this name for that of the other table.
    master.execute(f"CREATE TABLE {whole}v (id int)", f"INSERT INTO {whole}v VALUES (2)")
    world.publish()
    with pytest.raises(SluiceError, match=r"SLC-432.*v{64}.*63 bytes"):
        world.drain("zurich")
    assert world.rows("zurich", f"public.{whole}") == {('{"id":1}',): 1}
