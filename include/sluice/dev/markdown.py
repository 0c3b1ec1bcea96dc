"""Texts of the code as Markdown has them."""

from __future__ import annotations


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}." if text and not text.endswith(".") else text


def cell(text: str) -> str:
    """The text as a cell of a table."""
    return text.replace("%%", "%").replace("|", "\\|")
