"""The codec of messages: the form of the guide, every text, and nothing hostile."""

from __future__ import annotations

import pytest

from sluice.messages.message import OLD_CONTENT, ColumnName, Description, Message, Row
from sluice.messages.xml_reader import parse
from sluice.messages.xml_writer import CLOSED, render

SAMPLE = """<?xml version='1.0' encoding='UTF-8' ?>
 <sql>
   <desc><command>REPLICATION</command><ident>TRANS_KEY</ident></desc>
   <row num='0'>  <col name="id">5</col><col name="a">five</col>
     <attr name='schema'>public</attr> <attr name='action'>INSERT</attr> <attr name='tableName'>t1</attr>
   </row>
 </sql>
"""
ROW = Row(
    (("id", "5"), ("a", "five")),
    {"schema": "public", "action": "INSERT", "tableName": "t1"},
)


def test_a_message_has_the_form_of_the_seed():
    assert render(Message(Description(ident="TRANS_KEY"), (ROW,))) == SAMPLE
    assert parse(SAMPLE) == Message(Description(ident="TRANS_KEY"), (ROW,))


def test_an_update_carries_its_old_row_escaped_and_one_as_elements_is_read_too():
    changed = Row((("id", "6"),), {"action": "UPDATE"}, old=(("id", "5"), ("note", None)))
    text = render(Message(Description(), (changed,)))
    old = '&lt;col name="id"&gt;5&lt;/col&gt;&lt;col name="note" type="null"/&gt;'
    assert f"<attr name='oldContent' encoding='forcePlain'>{old}</attr>" in text
    nested = text.replace(old, '<col name="id">5</col> <col name="note" type="null"/>')
    assert parse(nested).rows == parse(text).rows == (changed,)


def test_a_create_describes_each_column():
    columns = (ColumnName("id", {"table": "t1", "pos": "1", "typeName": "integer"}), ColumnName("a b"))
    text = render(Message(Description("CREATE", "9", columns, {"schema": "public"})))
    assert "<colname table='t1' pos='1' typeName='integer'>id</colname>" in text
    assert parse(text).description.columns == columns


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("O'Neill & <sons>", "<attr name='x'><![CDATA[O'Neill & <sons>]]></attr>", id="markup"),
        pytest.param("]]>", "<attr name='x' type='text' encoding='base64'>XV0+</attr>", id="end of CDATA"),
        pytest.param("", "<attr name='x'></attr>", id="empty"),
        pytest.param(None, "<attr name='x' type='null'/>", id="none"),
    ],
)
def test_attributes_follow_the_rules_of_columns(text, written):
    assert written in render(Message(Description(attributes={"x": text})))


def test_a_name_that_xml_cannot_hold_is_base64_and_says_so():
    text = render(Message(Description(), (Row((("a\x01", "1"),), {"it's": "x"}),)))
    assert '<col name="YQE=" encoded="name">1</col>' in text
    assert "<attr name='it&apos;s'>x</attr>" in text


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(Message(Description(attributes={OLD_CONTENT: "x"})), id="old content of a description"),
        pytest.param(Message(Description(), (Row((), {OLD_CONTENT: "x"}),)), id="old content as an attribute"),
        pytest.param(Message(Description(columns=(ColumnName("c", {"a b": "x"}),))), id="a name with a blank"),
        pytest.param(Message(Description(columns=(ColumnName("c", {"encoding": "x"}),))), id="the codec's own name"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(message):
    with pytest.raises(ValueError, match=r"oldContent|cannot be said"):
        render(message)


def inside(text, place="ident"):
    return SAMPLE.replace("TRANS_KEY", text) if place == "ident" else SAMPLE.replace(place, text)


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(10))
HOSTILE = {
    "billion laughs": (f"<!DOCTYPE sql [{LAUGHS}]>" + inside("&l9;").partition("?>")[2], "document type"),
    "external entity": (
        '<!DOCTYPE sql [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + inside("&x;").partition("?>")[2],
        "document type",
    ),
    "external document type": ('<!DOCTYPE sql SYSTEM "http://localhost/x.dtd"><sql/>', "document type"),
    "undeclared entity": (inside("&x;"), "undefined entity"),
    "processing instruction": (inside("<?php x ?>"), "processing instruction"),
    "deep": ("<sql>" * 100_000, "<sql> in <sql>"),
    "deep in a row": (inside("<col name='x'>" * 9, "five"), "<col> in <col>"),
    "foreign element": (inside("<script/>"), "<script> in <ident>"),
    "another document": ("<html/>", "<html> in the document"),
    "two roots": (SAMPLE + "<sql/>", "junk"),
    "cut off": (SAMPLE[:-8], "no element found|unclosed token"),
    "nothing": ("", "no element found"),
    "no XML": ("five", "not well-formed|syntax"),
    "NUL": (inside("\x00"), "no XML|not well-formed"),
    "no command": (inside("", "<command>REPLICATION</command>"), "without a command"),
    "two commands": (inside("<command>DROP</command>", "<ident>TRANS_KEY</ident>"), "two elements <command>"),
    "row before description": ("<sql><row/><desc><command/></desc></sql>", "without a description"),
    "two descriptions": ("<sql><desc><command/></desc><desc><command/></desc></sql>", "two descriptions"),
    "text between rows": (inside("</row> lost", "</row>"), "text in <sql>"),
    "a column twice": (inside('<col name="id">', '<col name="a">'), "'id' stands there twice"),
    "an attribute twice": (inside("'schema'", "'action'"), "'schema' stands there twice"),
    "no name": (inside("<attr>", "<attr name='action'>"), "without a name"),
    "no base64": (inside("name='schema' encoding='base64'", "name='schema'"), "not base64|utf-8"),
    "columns in an attribute": (inside("<col name='x'/>", "public"), "no oldContent"),
    "several messages": (f"<messages>{CLOSED.join(['<sql><desc><command/></desc>'] * 2)}{CLOSED}</messages>", "more"),
    "no message": ("<messages></messages>", "no message"),
}


@pytest.mark.parametrize(("document", "why"), HOSTILE.values(), ids=list(HOSTILE))
def test_what_is_no_message_is_refused_with_the_reason(document, why):
    with pytest.raises(ValueError, match=why):
        parse(document)


def test_no_other_encoding_is_believed():
    with pytest.raises(ValueError, match="no XML"):
        parse(SAMPLE.replace("five", "fünf").encode("latin-1"))
