"""The literal of CONTENT: every value that goes in comes out, and each form is used where it must be."""

from __future__ import annotations

import pytest

from sluice.model.content import parse, render

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


def test_what_is_no_sequence_of_columns_is_refused():
    with pytest.raises(ValueError, match="not a sequence of columns"):
        parse("<col name='a'>")
