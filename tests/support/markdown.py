"""Markdown as Airflow shows notes and questions, at its worst: with tags, tables and links of bare addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKDOWN = MarkdownIt("gfm-like", {"html": True, "linkify": True})
_HARMFUL = {"link_open", "image", "html_inline", "html_block", "heading_open", "table_open"}
# Airflow's pages look for these in the text that is left when the Markdown has been read.
_LINKED = re.compile(r"(https?://|www(?=\.))([-.\w]+)|[-.\w+]+@[-\w]+(?:\.[-\w]+)+", re.IGNORECASE | re.ASCII)


def meant(rendered: str, *, tables: int = 0) -> set[str]:
    """The kinds of what becomes of a text, beside plain parts.

    Args:
        tables: so many are ours.
    """
    tokens = [one for block in MARKDOWN.parse(rendered) for one in (block, *(block.children or ()))]
    kinds = [one.type for one in tokens if one.type in _HARMFUL]
    for _ in range(tables):
        kinds.remove("table_open")
    return {*kinds, *(f"link of {linked[0]}" for text in _texts(tokens) for linked in _LINKED.finditer(text))}


def _texts(tokens: list[Token]) -> Iterator[str]:
    """Texts that stand together."""
    text = ""
    for one in tokens:
        if one.type in ("text", "text_special"):
            text += one.content
        elif text:
            yield text
            text = ""
    yield text
