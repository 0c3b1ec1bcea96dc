"""The values of one row out of its text, as PostgreSQL writes it (`record::text`).

See `capture/queue/row_images.py` for the form. That module reads many rows at once; here a few are read, one by one.
"""

from __future__ import annotations

import re

# A value in quotes, or one without, which is NULL if it is empty; then a comma or the end.
_FIELD = re.compile(r'(?:"((?:[^"\\]|""|\\.)*)"|([^,"]*))(,|$)', re.DOTALL)
_DOUBLED = re.compile(r'""|\\(.)', re.DOTALL)


def values_of(image: bytes) -> list[str | None]:
    """The values of a row in order."""
    text = image.decode()[1:-1]
    found: list[str | None] = []
    start = 0
    while field := _FIELD.match(text, start):
        quoted, plain, end = field.groups()
        found.append(plain or None if quoted is None else _DOUBLED.sub(lambda one: one[1] or '"', quoted))
        start = field.end()
        if not end:
            break
    return found
