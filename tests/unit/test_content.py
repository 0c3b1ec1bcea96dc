"""The literal of CONTENT: every value that goes in comes out, and each form is used where it must be."""

from __future__ import annotations

import pytest

from sluice.messages.column_literal import parse, render

FORMS = [
    pytest.param("id", "5", '<col name="id">5</col>', id="plain"),
    pytest.param("v", "", '<col name="v"></col>', id="empty is not null"),
    pytest.param("v", None, '<col name="v" type="null"/>', id="null"),
    pytest.param("v", "a < b & c", '<col name="v"><![CDATA[a < b & c]]></col>', id="markup"),
    pytest.param("v", "]]>", '<col name="v" type="text" encoding="base64">XV0+</col>', id="end of CDATA"),
    pytest.param("v", "a\rb", '<col name="v" type="text" encoding="base64">YQ1i</col>', id="carriage return"),
    pytest.param("v", "a\tb\nc", '<col name="v">a\tb\nc</col>', id="tab and newline"),
    pytest.param("raw", b"\x00\xff", '<col name="raw" encoding="base64">AP8=</col>', id="binary"),
    pytest.param('a "b"', "1", '<col name="a &quot;b&quot;">1</col>', id="name with double quotes"),
    pytest.param("a\x01\ufffe", "1", '<col name="YQHvv74=" encoded="name">1</col>', id="name that XML cannot hold"),
    pytest.param("a\t\r\n", "1", '<col name="a&#9;&#13;&#10;">1</col>', id="name with white space"),
    pytest.param("a \"b\" 'c' <d>", "1", "<col name=\"a &quot;b&quot; 'c' &lt;d&gt;\">1</col>", id="name with quotes"),
]


@pytest.mark.parametrize(("name", "value", "literal"), FORMS)
def test_a_value_takes_the_plainest_form_that_holds_it(name, value, literal):
    assert render([name], [value]) == literal
    assert parse(literal) == {name: value}


@pytest.mark.parametrize("code", [*range(1, 0x21), 0x7F, 0x85, 0x2028, 0xD7FF, 0xE000, 0xFEFF, 0xFFFE, 0xFFFF, 0x1F600])
def test_every_character_comes_back(code):
    value = f"{chr(code)}a{chr(code)}"
    assert parse(render(["v"], [value])) == {"v": value}


def test_columns_keep_their_order():
    assert list(parse(render(["z", "a", "m"], ["1", None, b""]))) == ["z", "a", "m"]


@pytest.mark.parametrize(
    "literal",
    [
        pytest.param("<col name='a'>", id="not ended"),
        pytest.param("<col>5</col>", id="no name"),
        pytest.param("<col name='a'/><col name='a'/>", id="a name twice"),
        pytest.param("<col name='a'><col name='b'/></col>", id="one in another"),
        pytest.param("</row><row>", id="more than a row"),
        pytest.param("lost <col name='a'/>", id="text between"),
        pytest.param("<col name='a' encoding='base64'>*</col>", id="no base64"),
        pytest.param("<col name='a' type='text' encoding='base64'>/w==</col>", id="no text"),
        pytest.param("<col name='a' encoded='b'/>", id="nothing that is encoded"),
        pytest.param("&lol;", id="an entity"),
    ],
)
def test_what_is_no_sequence_of_columns_is_refused(literal):
    with pytest.raises(ValueError, match="not a sequence of columns"):
        parse(literal)
