"""What the guides show: texts of documents, and tables of rows with what becomes of them."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

DOCS = Path(__file__).resolve().parents[2] / "include" / "docs"


def guide(name: str) -> str:
    """The text of a document."""
    return (DOCS / name).read_text(encoding="utf-8")


def _cells(text):
    return [value.strip("`") for value in re.findall(r"`\w+` ([^,;|`]+(?:,[^ ,;|`]+)*)", text)]


def example_of(text):
    """Rows of the master, and rows that the guide says the slave has of them."""
    table = re.search(r"\| a row of the master \|.*?\n\n", text, re.DOTALL)[0].splitlines()[2:]
    given, wanted = [], []
    for line in filter(None, table):
        _, master, slave, _ = line.split("|")
        given.append([None if value.strip() == "NULL" else value.strip() for value in _cells(master)])
        wanted += [[value.strip() for value in _cells(one)] for one in slave.split(";") if one.strip()]
    assert len(given) == 3
    return pa.array(given, pa.list_(pa.string())), wanted
