"""Every text comes back from the control store's JSON as it was, and none as another one."""

from __future__ import annotations

import json

import pytest

from sluice.store import json_text

TEXTS = [
    "",
    "a\0",
    "\0\0b",
    "a\u2400",
    "\ufdd0",
    "\ufdd00",
    "\ufdd0\0" + "1",
    r"\u0000",
    r"\\u0000",
    "\\\0",
    r"\ufdd0",
    '"\n\té😀',
]


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_a_text_is_read_as_it_was_written_and_no_nul_is(text):
    value = {text: [text, None, 1.5, {"b": [text]}]}
    # PostgreSQL gives characters and not escapes.
    kept = json.dumps(json.loads(json_text.dumps(value)), ensure_ascii=False)
    assert "\\u0000" not in kept.replace("\\\\", "")
    assert json_text.loads(kept.encode()) == value
