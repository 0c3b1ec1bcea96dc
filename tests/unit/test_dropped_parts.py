"""Parts of values that the log does not have are losses of every slave, until people allow them (R7)."""

from __future__ import annotations

from support.oracle import COLUMNS
from support.oracle_session import NAME, catalog_of, source

from sluice.config.mapper import Mapper
from sluice.model.layout import Column, Layout
from sluice.model.loss import Loss, is_plain_cast, plain_cast, with_dropped
from sluice.vendors.oracle.capture.triggers import CapturedTable

ZONE = "the time zone of each value"
MOMENT = "timestamp with time zone"
ZONED = Column("AT", MOMENT, dropped=ZONE)


def test_a_catalog_of_oracle_says_that_the_log_lacks_a_zone(monkeypatch):
    kinds = ("NUMBER", "TIMESTAMP(6)", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(6) WITH TIME ZONE")
    for kind in (*kinds, "TIMESTAMP(9) WITH TIME ZONE"):
        _, _, master = source(monkeypatch, **catalog_of(CapturedTable(NAME, 7, (COLUMNS[kind],))))
        (column,) = master.columns([NAME])[NAME]
        assert column.dropped == (ZONE if kind.endswith(") WITH TIME ZONE") else ""), kind


def test_what_the_log_lacks_is_a_loss_besides_those_of_the_slave():
    own = Loss(NAME, "b", "text", "character varying(4)", "what is longer than 4", '"B"::character varying(4)')
    columns = [("A", Column("a", "integer")), ("AT", ZONED), ("B", Column("b", "text", dropped="its language"))]
    found = list(with_dropped(NAME, columns, [own]))
    assert found[0] == Loss(NAME, "AT", MOMENT, MOMENT, ZONE, '"AT"')
    assert (found[1].lost, found[1].cast) == ("what is longer than 4 and its language", own.cast)
    assert list(with_dropped(NAME, columns[:1], [own])) == [own]


def test_what_is_allowed_to_lack_a_part_comes_as_it_is():
    casts = {"AT": plain_cast('A"T'), "price": '"PRICE"::numeric(6,2)'}
    assert [is_plain_cast(one) for one in casts.values()] == [True, False]
    assert Mapper(allowed={NAME: casts}).entry(NAME).compute == {"price": casts["price"]}
    assert not Mapper(allowed={NAME: {"AT": casts["AT"]}}).entry(NAME).shapes


def test_no_file_says_what_is_dropped():
    layout = Layout(1, NAME, (ZONED,))
    assert Layout.from_json(layout.to_json()) == layout
