"""Whatever a message holds is read back as it was written, however its document is cut."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support.fuzzing import examples

from sluice.messages.message import OLD_CONTENT, ColumnName, Description, Message, Row
from sluice.messages.xml_reader import parse, read
from sluice.messages.xml_writer import CLOSED, DECLARATION, begin_message, render, row

# Of everything a text may hold, above all what XML has trouble with.
texts = st.text() | st.text(alphabet="]>&<'\"\r\n\t \x00\x01\x0b\x85\u2028\ufffe\uffffa", max_size=8)
cells = st.none() | texts | st.binary(max_size=20)
columns = st.dictionaries(texts, cells, max_size=4).map(lambda found: tuple(found.items()))
said = st.dictionaries(texts.filter(lambda name: name != OLD_CONTENT), st.none() | texts, max_size=4)
about = st.dictionaries(st.sampled_from(["table", "schema", "type", "pos", "pk"]), texts)
rows = st.builds(Row, columns, said, st.none() | columns)
descriptions = st.builds(
    Description, texts, texts, st.lists(st.builds(ColumnName, texts, about), max_size=3).map(tuple), said
)
messages = st.builds(Message, descriptions, st.lists(rows, max_size=3).map(tuple))


@settings(max_examples=examples(100, 1000), deadline=None)
@given(messages)
def test_what_is_written_is_read_back(message):
    assert parse(render(message)) == message


@settings(max_examples=50, deadline=None)
@given(st.lists(messages, max_size=3), st.integers(min_value=1, max_value=40))
def test_messages_come_one_after_the_other_however_the_document_is_cut(several, size):
    parts = [begin_message(one.description) + "".join(map(row, range(9), one.rows)) + CLOSED for one in several]
    document = f"{DECLARATION}<messages>{''.join(parts)}</messages>".encode()
    found = read(document[at : at + size] for at in range(0, len(document), size))
    assert list(found) == [part for one in several for part in (one.description, *one.rows)]
