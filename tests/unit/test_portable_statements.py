"""Portable statements: what is taken of a text, what their columns allow, and their words."""

from __future__ import annotations

import pytest

from sluice.errors import SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.mariadb.statements.dialect import MariaDialect
from sluice.vendors.portable.parser import portable
from sluice.vendors.portable.type_check import columns_of, fitted

T = TableName("public", "t")
TYPES = {
    "id": "integer",
    "x": "bigint",
    "s": "smallint",
    "n": "numeric(9,2)",
    "free": "numeric",
    "v": "character varying(3)",
    "c": "character(3)",
    "w": "text",
    "b": "boolean",
    "d": "date",
    "at": "timestamp(3) without time zone",
    "zone": "timestamp(6) with time zone",
    "later": "timestamp without time zone",
    "u": "uuid",
    "f": "double precision",
    "j": "jsonb",
}
LAYOUT = Layout(1, T, tuple(Column(name, kind, name == "s") for name, kind in TYPES.items()), (0,))
NULLS = ", ".join("NULL" for _ in range(13))

WORDS = {
    "UPDATE t SET x = x + 1 - -2 * s WHERE NOT x = 1 AND b OR v <> 'a''\\'": (
        "UPDATE `seen`.`o` SET `x` = ((`x` + 1) - ((-2) * `s`)) "
        "WHERE (((NOT (`x` = 1)) AND (`b` = 1)) OR (`v` <> 'a''\\\\'))"
    ),
    # An index of whole numbers would be looked up for a rounded one.
    "DELETE FROM t WHERE x = 2.25 OR n <> x OR 1.005 IN (n, s) OR n = 1.5": (
        "DELETE FROM `seen`.`o` WHERE (((((`x` + 0) = 2.25) OR (`n` <> (`x` + 0))) "
        "OR (1.005 IN ((`n` + 0), (`s` + 0)))) OR (`n` = 1.5))"
    ),
    "UPDATE public.\"t\" SET d = '2024-02-29', at = '2024-01-01', zone = '2024-01-01 23:59:59.5+00', b = FALSE": (
        "UPDATE `seen`.`o` SET `d` = DATE'2024-02-29', `at` = TIMESTAMP'2024-01-01 00:00:00', "
        "`zone` = TIMESTAMP'2024-01-01 23:59:59.5', `b` = 0"
    ),
    "DELETE FROM t WHERE n NOT BETWEEN 1 AND 2.5 AND t.w IS NOT NULL AND id IN (1, -2)": (
        "DELETE FROM `seen`.`o` WHERE (((NOT ((`n` >= 1) AND (`n` <= 2.5))) AND (NOT (`w` IS NULL))) "
        "AND (`id` IN (1, (-2))))"
    ),
    "TRUNCATE t": "DELETE FROM `seen`.`o`",
    f"INSERT INTO t ({', '.join(TYPES)}) VALUES (1, 2, 3, {NULLS})": (
        f"INSERT INTO `seen`.`o` ({', '.join(f'`{name}`' for name in TYPES)}) VALUES (1, 2, 3, {NULLS})"
    ),
    "SELECT count(*), sum(n) AS total, min(d), count(j) FROM t": (
        "SELECT COUNT(*), SUM(`n`), MIN(`d`), COUNT(`j`) FROM `seen`.`o`"
    ),
}


@pytest.mark.parametrize("text", WORDS)
def test_a_statement_is_made_anew_from_its_parts(text):
    assert MariaDialect().statement(fitted(portable(text, "public"), LAYOUT), TableName("seen", "o")) == WORDS[text]


NOT_TAKEN = (
    "UPDATE t SET x = 1 -- x",
    "UPDATE t SET x = 1 /* ! , s = 2 */",
    "UPDATE t SET w = E'a\\n'",
    "UPDATE t SET w = U&'\\0041'",
    "UPDATE t SET w = 'a'\n'b'",
    "UPDATE t SET w = $$x$$",
    "UPDATE t SET w = lower(w)",
    "UPDATE t SET x = DEFAULT",
    "UPDATE t SET x = '1'::bigint",
    "UPDATE t SET (x, s) = (1, 2)",
    "UPDATE t SET x = 1 FROM o",
    "UPDATE t AS o SET x = 1",
    "UPDATE ONLY t SET x = 1",
    "UPDATE t SET x = 1 WHERE x = s = id",
    "UPDATE t SET x = 1 WHERE id = (SELECT 1)",
    "UPDATE t SET x = 1 WHERE x IS DISTINCT FROM 1",
    "UPDATE t SET x = 1 WHERE w LIKE 'a'",
    "UPDATE t SET x = 1; DELETE FROM t",
    "UPDATE t SET x = 1 RETURNING id",
    "WITH o AS (SELECT 1) DELETE FROM t",
    "DELETE FROM t USING o",
    "TRUNCATE t CASCADE",
    "TRUNCATE t, o",
    "INSERT INTO t (id) VALUES (1) ON CONFLICT DO NOTHING",
    "INSERT INTO t (id) SELECT 1",
    "INSERT INTO t VALUES (1)",
    "SELECT * FROM t",
    "SELECT DISTINCT id FROM t",
    "SELECT id FROM t ORDER BY id",
    "SELECT id FROM t LIMIT 1",
    "SELECT id FROM t FOR UPDATE",
    "SELECT id FROM t, o",
    "SELECT id, count(*) FROM t",
    "SELECT count(DISTINCT id) FROM t",
    "SELECT sum(n) OVER () FROM t",
    "SELECT id FROM d.public.t",
    "SELECT id INTO o FROM t",
    "SELECT Ä FROM t",
    "TABLE t",
    "GRANT SELECT ON t TO o",
    "COPY t TO '/tmp/x'",
    "SET x = 1",
    "SELECT id FROM t WHERE " + "NOT (" * 60 + "b" + ")" * 60,
)
RESERVED_NAMES = (
    "UPDATE t SET x = 1 WHERE user = 'a'",
    "UPDATE t SET x = DEFAULT",
    "SELECT limit FROM t",
    "DELETE FROM order",
    "INSERT INTO t (user) VALUES ('a')",
)
NOT_FITTING = (
    "UPDATE t SET n = 0.001",
    "UPDATE t SET n = n * 1.5",
    "UPDATE t SET x = n",
    "UPDATE t SET free = 1",
    "UPDATE t SET x = 1 WHERE free > 1",
    "UPDATE t SET f = 1",
    "UPDATE t SET x = 1 WHERE f = 1",
    "UPDATE t SET v = 'four'",
    "UPDATE t SET v = w",
    "UPDATE t SET c = 'x'",
    "UPDATE t SET x = 1 WHERE c = 'x'",
    "UPDATE t SET x = 1 WHERE w < 'x'",
    "UPDATE t SET x = 1 WHERE w = NULL",
    "UPDATE t SET x = 1 WHERE w = 1",
    "UPDATE t SET x = 1 WHERE x = '1'",
    "UPDATE t SET x = 1 WHERE x",
    "UPDATE t SET x = 1 WHERE 1 = 1",
    "UPDATE t SET x = 1 WHERE d = at",
    "UPDATE t SET x = 1 WHERE at = later AND later = '2024-01-01 00:00:00.0005'",
    "UPDATE t SET x = 1 WHERE '2024-01-01' IN (d, w)",
    "UPDATE t SET x = 1 WHERE 'a' IN (v, 'a ')",
    "UPDATE t SET x = 1 WHERE d > 'today'",
    "UPDATE t SET x = 1 WHERE d > '2024-13-01'",
    "UPDATE t SET at = '2024-01-01 00:00:00.1234'",
    "UPDATE t SET at = '2024-01-01 00:00:00+00'",
    "UPDATE t SET zone = '2024-01-01 00:00:00+02'",
    "UPDATE t SET u = 'A23E4567-e89b-12d3-a456-426614174000'",
    "UPDATE t SET j = '{}'",
    "UPDATE t SET s = NULL",
    "UPDATE t SET id = 1",
    "UPDATE t SET x = s, s = 1",
    "UPDATE t SET x = 1, x = 2",
    "UPDATE t SET x = x * x * x",
    f"DELETE FROM t WHERE s * 0.{'1':0>28} * 0.001 > 0",
    "UPDATE t SET x = 1 WHERE none = 1",
    "INSERT INTO t (id, s) VALUES (1, 2)",
    "SELECT xmin FROM t",
    "SELECT t FROM t",
    "SELECT sum(f) FROM t",
    "SELECT sum(free) FROM t",
    "SELECT max(free) FROM t",
    "SELECT max(w) FROM t",
)


@pytest.mark.parametrize("text", [*NOT_TAKEN, *NOT_FITTING])
def test_what_another_database_may_take_otherwise_is_refused(text):
    with pytest.raises(SluiceError, match="SLC-577"):
        fitted(portable(text, "public"), LAYOUT)


@pytest.mark.parametrize("text", RESERVED_NAMES)
def test_a_word_that_postgresql_does_not_read_as_a_name_is_one_in_quotes_only(text):
    with pytest.raises(SluiceError, match=r"SLC-577.*is a word of PostgreSQL"):
        portable(text, "public")
    assert columns_of(portable("DELETE FROM t WHERE \"user\" = 'a'", "public")) == {"user"}


def test_columns_that_a_statement_reads_or_sets_are_known():
    assert columns_of(portable("UPDATE t SET x = s + 1 WHERE b AND v IN ('a', w)", "public")) == {*"xsbvw"}
    assert columns_of(portable("SELECT j, f FROM t WHERE NOT n IS NULL", "public")) == {"n"}
