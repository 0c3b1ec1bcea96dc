"""Whatever a change holds is decoded as it was, in each format, alone or in a batch."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from support import decoding
from support.decoding import Cell, Change, Transaction
from support.fuzzing import examples

# What a server's text can hold, above all what the formats have trouble with.
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
texts |= st.text(alphabet="'\"\\ :[]{},PFnullé\n", max_size=8)
texts |= st.sampled_from(
    ["null", "unchanged-toast-datum", "B'1'", "(no-tuple-data)", " old-key:", "true", "' INSERT: '"]
)
names = texts.filter(bool)
plain = st.text(alphabet="abTü_\"-[]':,", min_size=1, max_size=6).filter(lambda name: not name.startswith('"'))
numbers = st.from_regex(r"-?[0-9]{1,6}(\.[0-9]{1,3})?(e[+-][0-9]{1,2})?|NaN|-?Infinity", fullmatch=True)
cells = (
    st.builds(Cell, names, st.sampled_from(["text", "timestamp without time zone", 'a."b]: c"[]']), st.none() | texts)
    | st.builds(Cell, names, st.sampled_from(["integer", "numeric", "double precision"]), st.none() | numbers)
    | st.builds(Cell, names, st.just("boolean"), st.sampled_from([None, "t", "f"]))
    | st.builds(Cell, names, st.just("bit varying"), st.none() | st.text(alphabet="01", max_size=9))
)
images = st.lists(cells, min_size=1, max_size=4, unique_by=lambda cell: cell.name).map(tuple)
changes = (
    st.builds(Change, plain, plain, st.just("INSERT"), images, st.none())
    | st.builds(Change, plain, plain, st.just("UPDATE"), images, st.none() | images)
    | st.builds(Change, plain, plain, st.just("DELETE"), st.none(), st.none() | images)
)
transactions = st.lists(changes, max_size=4).map(lambda made: Transaction(3, 4, 5, 6, tuple(made * 10)))


@settings(max_examples=examples(100, 200), deadline=None)
@given(st.lists(transactions, max_size=3), st.sampled_from("tjb"), st.booleans(), st.booleans(), st.integers(1, 900))
def test_what_is_written_is_decoded(several, format, batched, dotted, most):
    sent = decoding.statements(format, several, dotted)
    found = decoding.understood(decoding.decoded(format, batched, decoding.messages(format, sent, batched, most)))
    assert [one.changes for one in bare(found)] == [one.changes for one in bare(several)]


def bare(transactions):
    """Without types: one of the formats has numbers for them."""
    return [replace(one, changes=tuple(map(untyped, one.changes))) for one in transactions]


def untyped(change):
    sides = {
        side: image and tuple(Cell(cell.name, "", cell.value) for cell in image)
        for side, image in (("new", change.new), ("old", change.old))
    }
    return replace(change, **sides)
