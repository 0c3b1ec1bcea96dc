"""Which lines of COPY are given to MariaDB as they are."""

from __future__ import annotations

import pytest

from sluice.errors import SluiceError
from sluice.model.layout import Column
from sluice.model.names import TableName
from sluice.vendors.mariadb.types import Form, Stored
from sluice.vendors.mariadb.write.lines import read_alike

TABLE = TableName("shop", "t")
NUMBER = Stored(Column("a", "numeric"), "decimal(9,2)", Form.NUMBER)
TEXT = Stored(Column("b", "text"), "longtext", Form.TEXT)


@pytest.mark.parametrize(
    ("lines", "alike"),
    [
        (b"1\tx\n", True),
        (b"\\N\t\\N\n\\N\ta\\n\\t\\r\\b\\\\\n", True),
        # A backslash and an f, a form feed, and a form feed behind a backslash.
        (b"1\t\\\\f\n", True),
        (b"1\t\\f\n", False),
        (b"1\t\\\\\\f\n", False),
        (b"1\ta\\v\n", False),
        # COPY writes none of these.
        (b"1\ta\\N\n", False),
        (b"1\t\\Na\n", False),
        (b"1\t\\\\\\N\n", False),
        (b"1\t\\x41\n", False),
        (b"1\t\\0\n", False),
        (b"1\ta\xc3\n", False),
    ],
)
def test_lines_go_as_they_are_if_both_mean_the_same(lines, alike):
    assert read_alike(TABLE, [NUMBER, TEXT], lines) == alike


@pytest.mark.parametrize("form", sorted(set(Form) - {TEXT.form, NUMBER.form}))
def test_types_that_are_written_in_another_way_are_written_anew(form):
    plain = {Form.FLOAT: b"1.5", Form.DATE: b"2024-02-29", Form.TIME: b"04:05", Form.TIMESTAMP: b"2024-02-03 04:05:06"}
    one = Stored(Column("c", form), form, form)
    assert read_alike(TABLE, [one], plain.get(form, b"t") + b"\n") == (form in plain)


def test_a_value_that_does_not_fit_is_refused_before_it_is_sent():
    with pytest.raises(SluiceError, match=r"SLC-431: the column a of shop.t is a decimal\(9,2\)"):
        read_alike(TABLE, [TEXT, NUMBER], b"a\t1\nb\tNaN\n")
