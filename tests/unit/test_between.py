"""Ranges of keys, as people write them."""

from __future__ import annotations

import pytest

from sluice.model.key_range import KeyInterval

WRITTEN = {
    "public.t: 5 .. 9": (("5",), ("9",)),
    "public.t:5..9": (("5",), ("9",)),
    "public.t: 1.5..-2.5": (("1.5",), ("-2.5",)),
    "public.t: 'it''s, (a) .. b' ..": (("it's, (a) .. b",), None),
    "public.t: .. 2013, 'UA'": (None, ("2013", "UA")),
    "public.t: (2013, UA) .. (2013, '')": (("2013", "UA"), ("2013", "")),
    "public.t: 2013-01-01 .. '2013-01-31 12:00'": (("2013-01-01",), ("2013-01-31 12:00",)),
    "public.t: ..": (None, None),
    ' "pub:lic"."t" : 1 .. 2 ': (("1",), ("2",)),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_range_is_read_as_it_is_written(text):
    found = KeyInterval.parse(text)
    assert (found.first, found.until) == WRITTEN[text]
    assert found.table.table == "t"
    plain = ":" not in found.table.schema
    assert not plain or KeyInterval.parse(str(found)) == found


ODD = ["public.t", "public.t: 5", "t: 1 .. 2", "public.t: 1 .. 2 .. 3", "public.t: 1 2 .. 3", "public.t: (1 .. 2", ""]
WORSE = ["public.t: 'a .. b", "public.t: 1, .. 2", "public.t: 'a'b .. c", "public.t 1 .. 2"]


@pytest.mark.parametrize("text", [*ODD, *WORSE])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(ValueError, match=r"\w"):
        KeyInterval.parse(text)
