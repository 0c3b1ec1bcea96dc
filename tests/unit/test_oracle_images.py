"""Images of rows as Oracle's functions write them, and which transactions a change number shows."""

from __future__ import annotations

from base64 import b64encode

import pyarrow as pa
import pytest
from support.oracle import COLUMNS

from sluice.model.position import Snapshot
from sluice.vendors.oracle.capture.queue.row_images import cells, reader
from sluice.vendors.oracle.catalog.columns import OracleColumn
from sluice.vendors.oracle.types import Captured, captured
from sluice.vendors.oracle.visibility import id_of, read_snapshot, text_of, transaction


def base64(text: bytes) -> str:
    return b64encode(text).decode()


IMAGES = {
    '<col name="A">5</col><col name="B"><![CDATA[x & <y>]]></col>': {"A": "5", "B": "x & <y>"},
    '<col name="A" type="null"/>': {"A": None},
    '<col name="A"></col>': {"A": ""},
    '<col name="A&amp;&quot;&lt;&gt;&#10;&#9;"> a\n</col>': {'A&"<>\n\t': " a\n"},
    f'<col name="A" type="text" encoding="base64">{base64("]]>é".encode())}</col>': {"A": "]]>é"},
    f'<col name="A" encoding="base64">{base64(bytes([0, 255]))}</col>': {"A": "\\x00ff"},
    '<col name="A" encoding="base64"></col>': {"A": "\\x"},
    "": {},
}
BROKEN = [
    "x",
    '<col name="A">5</col> <col name="B">6</col>',
    '<col name="A">5</col><col name="A">6</col>',
    '<col name="A">5',
    '<col name="A"><b/></col>',
    '<col name="A" encoding="base64">*</col>',
    '<col name="A">5</col><col name="B"><![CDATA[x',
]


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_is_read_back(image):
    assert cells(image) == IMAGES[image]


@pytest.mark.parametrize("image", BROKEN)
def test_what_is_no_image_is_not_read(image):
    with pytest.raises(ValueError, match=r"cannot be read|twice|base64|padding"):
        cells(image)


def how(column: OracleColumn) -> Captured:
    found = captured(column)
    assert isinstance(found, Captured)
    return found


def test_a_row_has_the_order_of_the_layout_its_long_and_no_other_columns():
    read = reader(["A", "L", "D"], [how(COLUMNS["NUMBER(10,2)"]), how(COLUMNS["LONG"]), how(COLUMNS["DATE"])])
    image = '<col name="D">2024-02-29 12:00:00.000000000</col><col name="A">.5</col>'
    assert read(cells(image), {"L": "long"}) == ["0.50", "long", "2024-02-29 12:00:00"]
    assert read(cells(image), {}) == ["0.50", None, "2024-02-29 12:00:00"]
    for other in ('<col name="A">1</col>', image + '<col name="E">1</col>'):
        with pytest.raises(ValueError, match="it has the columns"):
            read(cells(other), {})


def test_a_snapshot_shows_what_was_swept_before_and_what_was_queued_then():
    early, late, later = (transaction(scn, id_) for scn, id_ in ((100, "1.2.3"), (300, "4.5.6"), (300, "7.8.9")))
    seen = read_snapshot(Snapshot(text_of(200, {"4.5.6"})))
    assert [seen.sees(one) for one in (early, late, later)] == [True, True, False]
    asked = pa.chunked_array([[late, late], [later], [early]], pa.string())
    assert seen.are_newer(asked).to_pylist() == [False, False, True, False]
    assert seen.are_newer(pa.chunked_array([], pa.string())).to_pylist() == []
    assert (id_of(late), seen.since) == ("4.5.6", "200")
    assert seen.age > read_snapshot(Snapshot(text_of(100, []))).age


@pytest.mark.parametrize("text", ["", "200", "200:x", "200:1.2.3,", "1:2:", ":1.2.3"])
def test_a_text_of_another_kind_is_no_snapshot(text):
    with pytest.raises(ValueError, match="no snapshot of Oracle"):
        read_snapshot(Snapshot(text))
