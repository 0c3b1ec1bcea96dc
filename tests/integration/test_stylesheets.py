"""A stylesheet makes rows of rows as a plugin does; it cannot reach out, and what it does wrong names it."""

from __future__ import annotations

import re
import signal

import pyarrow as pa
import pytest
from support.guides import example_of, guide

from sluice import extensions
from sluice.apply.transform import xslt_process
from sluice.apply.transform.stylesheet import stylesheet_transform
from sluice.errors import ConfigError, SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.model.stylesheet import Stylesheet

ROWS = pa.list_(pa.string())
LAYOUT = Layout(7, TableName("shop", "items"), (Column("id", "integer", True), Column("note", "text")), (0,))
GIVEN = [["1", "a & <b>\r\n\x01]]>"], ["2", None], ["3", ""]]
AS_IT_IS = (
    '<xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>'
)
CALLS = '<xsl:call-template name="{}"/>'
NAMED = '<xsl:template name="{}"><xsl:param name="n" select="99"/><xsl:param name="text" select="."/>{}</xsl:template>'
AGAIN = '<xsl:call-template name="twice"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template>'
MORE = '<xsl:with-param name="text" select="concat($text, $text, $text, $text)"/>'
LOOPS = (
    NAMED.format("endless", CALLS.format("endless"))
    + NAMED.format("twice", f'<xsl:if test="$n > 0">{AGAIN * 2}</xsl:if>')
    + NAMED.format("grows", f'<xsl:call-template name="grows">{MORE}</xsl:call-template>')
)
# What is made of a row, by its number, and why that is an error.
WRONG = {
    "10": ("<xsl:copy-of select=\"document('/etc/hostname')\"/>", "read rights for .*/etc/hostname denied"),
    "11": ("<xsl:copy-of select=\"document('http://127.0.0.1/')\"/>", "read rights for http:.* denied"),
    "12": ('<xsl:message terminate="yes">no such row</xsl:message>', "no such row"),
    "13": (CALLS.format("endless"), "infinite template recursion"),
    "14": (CALLS.format("twice"), "no answer for 0.3 s"),
    "15": (CALLS.format("grows"), "Failed to evaluate|MemoryError"),
    "16": ('<row><col name="id">3</col><col/></row>', "<col> without a name"),
    "17": ('<row><col name="other"/></row>', "a row has a column other, which is none of id, note"),
    "18": ('<row><col name="id" encoding="base64">AA==</col></row>', "values are texts"),
    "19": ('<row><attr name="action">DELETE</attr></row>', "another action than INSERT"),
    "20": ("<table/>", "<table> in <sql>"),
}


def sheet(body, name="ours.xsl"):
    root = '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">'
    return Stylesheet(name, f"{root}{body}</xsl:stylesheet>".encode())


def made(body, rows=GIVEN, layout=LAYOUT):
    shape = stylesheet_transform(sheet(AS_IT_IS + body), layout)
    return shape, shape.transform(pa.array(rows, ROWS))


def test_a_stylesheet_that_copies_leaves_every_value_and_column_as_it_is():
    shape, found = made("")
    assert (found.rows.to_pylist(), found.of.tolist()) == (GIVEN, [0, 1, 2])
    assert shape.layout == LAYOUT
    assert shape.transform(pa.array([], ROWS)).rows.to_pylist() == []


def test_booleans_are_words_for_a_stylesheet_and_letters_for_the_slave():
    layout = Layout(7, LAYOUT.name, (*LAYOUT.columns, Column("flag", "boolean"), Column("flags", "boolean[]")), (0,))
    turned = (
        "<xsl:template match=\"col[@name='flag'][.='true']\"><col name=\"flag\">false</col></xsl:template>"
        "<xsl:template match=\"col[@name='flag'][.='false']\"><col name=\"flag\">t</col></xsl:template>"
    )
    given = [["1", "true", "t", "{t}"], ["2", "t", "f", "{f}"], ["3", None, None, None]]
    _, found = made(turned, given, layout)
    assert found.rows.to_pylist() == [["1", "true", "f", "{t}"], ["2", "t", "t", "{f}"], ["3", None, None, None]]


def test_rows_are_left_out_and_split_whatever_a_row_is_beside(monkeypatch):
    split = '<xsl:template match="row[col=2]"/><xsl:template match="row[col=3]"><xsl:copy-of select=".|."/>' \
        '<xsl:copy-of select="."/></xsl:template>'  # fmt: skip
    beside = '<xsl:template match="row[position() > 1 or preceding::row or @num != 0]"/>'
    for piece in (4_000_000, 1):
        monkeypatch.setattr(xslt_process, "_PIECE", piece)
        _, found = made(split + beside)
        assert (found.rows.to_pylist(), found.of.tolist()) == ([GIVEN[0], GIVEN[2], GIVEN[2]], [0, 2, 2])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('<xsl:template match="/[">', "XMLSyntaxError"),
        ('<xsl:template match="/["/>', "XSLTParseError: .*failed to compile '/\\['"),
        ('<xsl:include href="{other}"/>', "Cannot resolve URI .*: Too many open files"),
        ('<xsl:include href="file://{other}"/>', "Too many open files"),
        ('<xsl:template match="/"><xsl:copy-of select="document(\'{other}\')"/></xsl:template>', "read rights"),
        ('<xsl:template match="/"/>', "leaves nothing of the CREATE"),
        ('<xsl:template match="colname"/>', "its columns are none"),
        ('<xsl:template match="@typeName"/>', "the column id has no typeName"),
        ('<xsl:template match="attr/text()">other</xsl:template>', "another schema than shop"),
        ('<xsl:template match="desc"><sql/></xsl:template>', "<sql> in <sql>"),
    ],
)
def test_a_stylesheet_that_cannot_be_used_is_refused_before_any_row(body, why, tmp_path):
    other = tmp_path / "other.xsl"
    other.write_bytes(sheet("").text)
    with pytest.raises(ConfigError, match=rf"SLC-161: the stylesheet ours.xsl cannot be used for shop.items: .*{why}"):
        made(body.replace("{other}", str(other)))


SPACES = {
    "d": "http://exslt.org/dates-and-times",
    "m": "http://exslt.org/math",
    "y": "http://exslt.org/dynamic",
    "s": "http://icl.com/saxon",
}


def noted(expression):
    """What makes that of each note."""
    spaces = " ".join(f'xmlns:{prefix}="{space}"' for prefix, space in SPACES.items())
    value = f'<col name="note"><xsl:value-of select="{expression}"/></col>'
    return f'<xsl:template match="row/col[2]" {spaces}>{value}</xsl:template>'


@pytest.mark.parametrize(
    ("expression", "called"),
    [
        ("d:date-time()", "d:date-time"),
        ("substring(d:year ( ), 1)", "d:year"),
        ("m:random()", "m:random"),
        ("y:evaluate('m:random' , '()')", "y:evaluate"),
        ("s:expression(.)", "s:expression"),
    ],
)
def test_a_stylesheet_that_makes_something_else_of_a_row_each_time_is_refused(expression, called):
    with pytest.raises(ConfigError, match=rf"SLC-161: .*it calls {called}\(\): what is made of a row has"):
        made(noted(expression))


def test_dates_that_are_given_and_ids_within_a_row_are_the_same_each_time():
    dates = "concat(d:add('2013-01-31', 'P1M'), ' m:random() ', m:abs(-1))"
    found = []
    for _ in range(2):
        xslt_process.sandbox.cache_clear()
        found.append(made(noted(f"concat({dates}, generate-id(..), d:date(/none))"))[1].rows.to_pylist())
    assert found[0] == found[1]
    assert found[0][0][1].startswith("2013-02-28 m:random() 1id")


@pytest.fixture(scope="module")
def failing():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xslt_process, "_MOST_MEMORY", 1 << 28)
        wrong = (f'<xsl:template match="row[col={number}]">{one}</xsl:template>' for number, (one, _) in WRONG.items())
        yield made(LOOPS + "".join(wrong))[0]


@pytest.mark.parametrize("number", WRONG)
def test_a_stylesheet_that_fails_or_loops_or_reaches_out_is_named_and_goes_on_with_other_rows(
    failing, number, monkeypatch
):
    why = rf"SLC-162: the stylesheet ours.xsl failed on 4 rows of shop.items: .*{WRONG[number][1]}"
    monkeypatch.setattr(extensions, "PATIENCE_S", 0.3 if number == "14" else 60)
    with pytest.raises(SluiceError, match=why):
        failing.transform(pa.array([*GIVEN, [number, ""]], ROWS))
    monkeypatch.setattr(extensions, "PATIENCE_S", 60)
    assert failing.transform(pa.array(GIVEN, ROWS)).rows.to_pylist() == GIVEN


@pytest.mark.full
def test_a_loop_ends_though_alarms_are_ignored_by_whoever_started_us(monkeypatch):
    monkeypatch.setattr(extensions, "PATIENCE_S", 3)
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    try:
        with pytest.raises(SluiceError, match=r"SLC-162: .*no answer for 3 s"):
            made(LOOPS + f'<xsl:template match="row[col=3]">{CALLS.format("twice")}</xsl:template>')
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        signal.signal(signal.SIGALRM, before)


PLANES = Layout(
    1,
    TableName("public", "planes"),
    (Column("tailnum", "text", True), Column("seats", "integer"), Column("status", "text")),
    (0,),
)
PEOPLE = Layout(1, TableName("public", "people"), (Column("id", "integer"), Column("name", "text")), (0,))


def test_the_stylesheet_makes_the_rows_of_its_table():
    text = guide("stylesheets.md")
    given, wanted = example_of(text)
    code = re.search(r"```xml\n(<xsl:stylesheet.*?)```", text, re.DOTALL)[1]
    shape = stylesheet_transform(Stylesheet("REPL_0_5_0_3.xsl", code.encode()), PLANES)
    assert shape.transform(given).rows.to_pylist() == wanted
    assert [(one.name, one.type) for one in shape.columns] == [
        ("tailnum", "text"),
        ("places", "integer"),
        ("size", "text"),
    ]
    assert (shape.layout.key, stylesheet_transform(Stylesheet("other", code.encode()), PEOPLE).layout) == ((0,), PEOPLE)
